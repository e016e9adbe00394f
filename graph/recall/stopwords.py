"""English words that say nothing of what a text is about, as a query or a document has them: case-folded, apostrophes straight.

Closed classes only: articles, pronouns, question words, auxiliaries with their contractions, prepositions, conjunctions, and adverbs
of degree and place. No verb, noun or number is in it however frequent: its weight is the business of the document frequency.
"""

from __future__ import annotations

_WORDS = """
a an the this that these those such
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves one's
who whom whose which what when where why how whoever whomever whatever whichever whenever wherever however
someone somebody something anyone anybody anything everyone everybody everything noone nobody nothing none
all any both each either neither every few many more most much less least other another others some several same own enough
am is are was were be been being
have has had having do does did doing done
will would shall should can could may might must ought cannot
i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll
we're we've we'd we'll they're they've they'd they'll that's that'd that'll there's there're there'd there'll here's
who's who've who'd who'll what's what're what've what'd what'll when's when'd where's where'd why's why'd how's how'd how're let's
isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't won't wouldn't shan't shouldn't can't couldn't
mayn't mightn't mustn't needn't oughtn't ain't could've should've would've might've must've y'all
im ive youre youve hes shes theyre theyve thats theres whats wheres whos isnt arent wasnt werent havent hasnt hadnt
dont doesnt didnt wont wouldnt shouldnt cant couldnt mustnt aint
about above across after against along alongside amid among amongst around as at before behind below beneath beside besides
between beyond by despite down during except for from in inside into of off on onto out outside over past per since
through throughout till to toward towards under underneath until up upon versus via with within without
and but or nor so yet if then else than because although though unless whereas while whether
no not never nope yes yeah yep ok okay oh ah um uh hmm hey
here there now just only also too very quite rather really even ever still again already almost always often
further furthermore once hence thus therefore thereby therein thereof herein hereby moreover nevertheless nonetheless
otherwise instead indeed perhaps maybe anyway etc
"""

STOP_WORDS = frozenset(_WORDS.split())

# So written, a name or a month and no stop word: the first of a sentence is one too many, at the price of a frequent term.
NAMES = frozenset({"May", "Will", "US", "IT", "WHO"})
