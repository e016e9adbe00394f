"""Word lists: closed classes of English that the rules share. Lemmas in lower case."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


DAYS = words(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october
    november december
    """
)
FEMALE_KIN = words(
    """
    mother mum mom mama mummy mommy grandmother grandma granny gran nan nana sister stepsister half-sister daughter stepdaughter
    granddaughter aunt auntie niece wife girlfriend fiancée mother-in-law sister-in-law daughter-in-law stepmother ex-wife
    ex-girlfriend
    """
)
MALE_KIN = words(
    """
    father dad daddy papa grandfather grandad granddad grandpa brother stepbrother half-brother son stepson grandson uncle nephew
    husband boyfriend fiancé father-in-law brother-in-law son-in-law stepfather ex-husband ex-boyfriend
    """
)
KIN = (
    FEMALE_KIN
    | MALE_KIN
    | words(
        """
    parent parents grandparent grandparents sibling siblings child children kid kids baby cousin spouse partner twin youngest eldest
    oldest ex family grandchild grandchildren relative in-laws folks
    """
    )
)
BARE_KIN = frozenset(
    ["mum", "mom", "mama", "mummy", "dad", "daddy", "papa", "grandma", "granny", "gran", "nan", "nana", "grandad", "granddad", "grandpa"]
)
ACQUAINTANCES = words(
    """
    friend neighbour neighbor colleague coworker co-worker teammate boss manager roommate flatmate housemate landlord landlady
    doctor therapist dentist teacher coach mentor tutor classmate client supervisor assistant lawyer accountant buddy pal mate
    bestie crush lead
    """
)
ROLES = words(
    """
    accountant actor actress architect artist assistant attorney baker banker barber barista bartender bassist biologist blogger
    bookkeeper builder butcher captain carer caretaker carpenter cashier chairman chairperson chair chairwoman chef chemist clerk
    cleaner coach columnist comedian composer conductor consultant contractor cook coordinator counsellor counselor courier curator
    dancer dentist designer developer director doctor driver drummer ecologist economist editor electrician engineer entrepreneur
    farmer filmmaker firefighter florist founder gardener geologist goalkeeper guide guitarist hairdresser historian hydrologist
    illustrator inspector instructor intern interpreter investigator janitor jeweller journalist judge lawyer lecturer lead
    librarian lifeguard linguist magistrate manager mathematician mayor mechanic midwife minister miner model musician nanny
    novelist nurse nutritionist officer optician organiser organizer painter paramedic pastor pharmacist philosopher photographer
    physicist pianist pilot playwright plumber podcaster poet policeman politician porter postman potter president priest principal
    producer professor programmer psychologist publisher receptionist representative reporter researcher sailor salesman scientist
    sculptor secretary senator sergeant shepherd singer soldier solicitor specialist spokesman spokesperson spokeswoman statistician
    striker student surgeon surveyor swimmer tailor teacher technician therapist trainer trainee translator treasurer tutor vet
    veterinarian violinist waiter waitress warden weaver welder writer zoologist analyst admin administrator sre cto ceo cfo coo
    chess-player player footballer cyclist athlete apprentice volunteer freelancer postdoc undergraduate adviser advisor deputy
    midfielder defender ambassador deacon bishop nun monk imam rabbi landlord stylist tester maintainer executive vp head supervisor
    foreman operator owner partner paralegal physiotherapist psychiatrist radiologist paediatrician pediatrician cardiologist
    oncologist archaeologist astronomer
    """
)
ROLE_ENDINGS = ("ologist", "smith", "keeper", "grapher", "maker", "wright", "trician", "ician")
ANIMALS = words(
    """
    dog puppy pup cat kitten rabbit bunny hamster guinea-pig parrot budgie canary tortoise turtle goldfish horse pony goat sheep hen
    chicken duck snake lizard gecko ferret rat mouse gerbil spaniel beagle labrador lab retriever poodle terrier collie dachshund
    corgi husky greyhound bulldog pug basset whippet mongrel mutt tabby siamese lurcher hound cockatiel cow donkey pig alpaca llama
    pet bird fish pigeon
    """
)
FOODS = words(
    """
    meat beef pork lamb chicken fish seafood shellfish shrimp dairy milk cheese egg eggs gluten bread pasta rice wheat sugar
    chocolate fruit vegetable vegetables nut nuts peanut peanuts soy tofu honey carbs breakfast lunch dinner pizza sushi curry salad
    soup oat oats porridge mushroom mushrooms onion garlic tomato tomatoes banana bananas butter yoghurt yogurt bacon ham sausage
    spinach lentils beans potato potatoes apple apples cake dessert sweets snack food cereal steak turkey tuna salmon burger noodles
    avocado kale oyster oysters prawns
    """
)
DRINKS = words(
    """
    coffee tea beer wine water juice milk soda cola espresso latte cappuccino decaf kombucha cider whisky whiskey vodka gin rum
    alcohol smoothie matcha cocoa lemonade booze spirits mate chai
    """
)
MEDICINES = words(
    """
    medication medicine antidepressant antidepressants insulin ibuprofen paracetamol aspirin metformin citalopram sertraline statin
    statins vitamin vitamins supplement supplements antibiotic antibiotics pill pills iron magnesium melatonin penicillin lithium
    warfarin antihistamine antihistamines steroid steroids inhaler tablet tablets dose mg painkillers levothyroxine omeprazole
    amoxicillin prednisone fluoxetine
    """
)
LANGUAGES = words(
    """
    english french german spanish italian portuguese dutch danish swedish norwegian finnish polish czech slovak hungarian romanian
    bulgarian greek turkish russian ukrainian arabic hebrew persian farsi urdu hindi bengali punjabi tamil telugu mandarin cantonese
    chinese japanese korean vietnamese thai malay indonesian tagalog swahili yoruba igbo hausa zulu xhosa afrikaans amharic somali
    berber catalan basque galician welsh irish gaelic scots icelandic latvian lithuanian estonian croatian serbian slovene slovenian
    albanian georgian armenian kurdish pashto latin esperanto creole cree quechua maori
    """
)
NATIONALITIES = LANGUAGES | words(
    """
    american british english scottish welsh irish canadian australian mexican brazilian argentinian argentine chilean colombian
    peruvian venezuelan cuban indian pakistani bangladeshi nepali sri-lankan nigerian ghanaian kenyan ethiopian south-african
    egyptian moroccan algerian tunisian iranian iraqi syrian lebanese israeli palestinian jordanian saudi swiss austrian belgian
    filipino singaporean taiwanese jamaican haitian senegalese cameroonian ugandan tanzanian zimbabwean slovak bosnian macedonian
    maltese cypriot belarusian moldovan kazakh uzbek afghan mongolian european african asian
    """
) - frozenset(("latin", "mandarin", "cantonese", "farsi", "hindi", "esperanto"))
INSTRUMENTS = words(
    """
    guitar piano violin viola cello flute clarinet saxophone sax trumpet trombone drums drum bass harp accordion banjo ukulele
    keyboard organ oboe bassoon recorder harmonica mandolin fiddle bagpipes sitar
    """
)
GAMES = INSTRUMENTS | words(
    """
    football soccer tennis badminton squash basketball volleyball rugby cricket hockey golf chess poker bridge darts snooker pool
    baseball handball pétanque bowls padel netball lacrosse go scrabble dungeons minecraft fortnite videogames games game frisbee
    table-tennis ping-pong polo pickleball
    """
)
ACTIVITIES = words(
    """
    smoking vaping yoga pilates running jogging swimming cycling rowing dancing climbing bouldering hiking skiing
    snowboarding surfing karate judo
    boxing meditation ballet gymnastics aikido taekwondo jiu-jitsu archery fencing sailing kayaking knitting crochet pottery
    painting gardening photography calligraphy woodworking birdwatching fishing crossfit weightlifting salsa tango tai-chi
    mindfulness journaling skateboarding baking embroidery
    """
)
ACTIVITY_VERBS = words(
    """
    run jog swim cycle row dance climb hike ski snowboard surf box meditate knit crochet sew paint garden fish sail kayak skate sing
    bake journal smoke
    """
)
PROPERTY = words(
    """
    car bike bicycle motorbike motorcycle van truck scooter boat house flat apartment cottage cabin bungalow studio condo land farm
    laptop phone iphone shop store cafe café restaurant bakery bookshop business company yacht camper caravan piano share shares
    stock plot allotment domain e-bike moped tractor
    """
)
STUDIES = words(
    """
    biology chemistry physics mathematics maths math economics law medicine history philosophy psychology sociology engineering
    linguistics architecture literature art music nursing journalism theology geography geology politics statistics accounting
    marketing design computing informatics anthropology archaeology astronomy dentistry pharmacy business finance science
    """
)
DIETS = words(
    """
    vegan vegetarian pescatarian gluten-free dairy-free kosher halal keto paleo teetotal flexitarian lactose-free omnivore
    """
)
STATES = words(
    """
    single married divorced widowed engaged separated pregnant retired unemployed self-employed freelance homeless blind deaf
    diabetic asthmatic anaemic anemic epileptic autistic dyslexic sober left-handed right-handed colour-blind colorblind bilingual
    trilingual adopted deceased dead alive ill sick injured paralysed bedridden celiac coeliac lactose-intolerant intolerant
    short-sighted gay lesbian bisexual queer trans nonbinary religious jewish muslim christian catholic buddhist hindu
    atheist agnostic protestant orthodox bald tall afraid scared fond short fluent claustrophobic hospitalised hospitalized estranged
    """
)
STATUSES = words(
    """
    down up broken deprecated healthy unhealthy frozen failing flaky green red live offline online stable unstable blocked unblocked
    open closed merged approved rejected complete completed done finished restored degraded disabled enabled active inactive overdue
    paused suspended cancelled canceled delayed released archived unmaintained obsolete ready stuck pending resolved fixed
    unavailable available operational decommissioned retired sold vacant out-of-date outdated unsupported supported read-only full
    empty expired corrupt corrupted vulnerable insecure idle stale back out experimental beta private public
    """
)
VAGUE = words(
    """
    thing things stuff lot lots bit time times way ways idea ideas kind sort part parts place places something anything everything
    nothing someone anyone everyone nobody somebody anybody everybody people person guy guys man woman one ones day days week weeks
    month year years night morning moment minute hour hours chance look feeling feelings question questions problem problems issue
    issues point reason reasons fun luck sense trouble news word words mind heart life world matter fact case end start beginning
    rest side deal break glimpse blast experience experiences memory memories support advice help update updates info information
    detail details example examples step steps plan plans option options effort progress difference change changes love joy hope
    fear peace strength courage pride inspiration motivation passion journey moments reminder thought thoughts opinion impact mess
    that this it conversation chat talk talks story stories couple few bunch ton tons plenty amount number shot go try ability need
    needs goal goals purpose meeting call guess vibe vibes energy smile laugh hug insight insights balance connection bond interest
    today tomorrow yesterday weekend
    """
)
LIGHT_VERBS = words(
    """
    be do go get make take have let seem appear look sound feel think know guess believe suppose imagine expect assume wonder doubt
    mean say tell ask talk speak see hear watch notice find keep try help thank hope wish love like hate enjoy want need remember
    forget understand realize realise agree happen come start begin stop continue put give show turn work use bring mind care worry
    matter deserve let's appreciate check miss plan share learn end set become consider decide explain mention suggest recommend
    describe inspire remind encourage support motivate create allow provide ensure include follow handle manage discuss figure wait
    stay leave pick spend sit stand hold reach face deal experience focus add change call text write read
    """
)
REPORTING = words(
    """
    say tell write mention announce claim swear report confirm explain state insist reveal admit deny inform text message post note
    declare add reckon promise assure warn predict tweet email testify maintain argue remark
    """
)
HEDGING = words(
    """
    think guess suppose believe reckon assume expect suspect imagine doubt wonder hope wish feel fear worry pray bet seem appear
    sound look hear gather presume pretend dream fancy speculate figure recommend suggest propose consider
    """
)
HEDGES = words(
    """
    maybe perhaps probably possibly presumably apparently supposedly allegedly conceivably hopefully potentially likely
    """
)
MEETINGS = words(
    """
    meeting interview appointment reunion wedding flight train deadline exam party funeral conference lecture concert match hearing
    launch release
    """
)
GENERIC_NOUNS = words(
    """
    team service server worker app application api database db site cluster pipeline job queue cache frontend backend library
    package
    """
)
SPEECH_ROLES = frozenset(
    ["assistant", "user", "system", "bot", "notes", "note", "minutes", "newsdesk", "log", "bio", "report", "archivist"]
)
SOFTWARE = words(
    """
    aws gcp azure heroku hetzner netlify vercel digitalocean cloudflare linode ovh fly.io firebase supabase postgres postgresql
    mysql mariadb sqlite mongodb mongo redis memcached cassandra dynamodb elasticsearch opensearch clickhouse duckdb snowflake
    bigquery kafka rabbitmq nats docker podman kubernetes k8s helm terraform ansible pulumi jenkins buildkite circleci github
    gitlab bitbucket jira slack datadog grafana prometheus sentry nginx apache caddy envoy traefik linux ubuntu debian windows
    macos android python javascript typescript golang rust java kotlin scala ruby php elixir haskell clojure perl swift dart
    flutter react vue angular svelte nextjs next.js node node.js nodejs django flask fastapi rails laravel spring express graphql
    grpc rest webpack vite esbuild rollup babel eslint prettier pytest jest cypress playwright selenium airflow dagster temporal
    dbt spark hadoop pandas numpy pytorch tensorflow vim emacs vscode neovim bazel gradle maven npm pnpm yarn pip poetry uv celery
    sqlalchemy prisma tailwind bootstrap
    """
)
