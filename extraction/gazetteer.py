"""Places that everybody knows, to tell "I left Lisbon" from "I left Acme": the name recogniser takes either for the other."""

from __future__ import annotations

from extraction.lexicon import words

COUNTRIES = words(
    """
    afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahrain bangladesh belarus belgium
    belize benin bhutan bolivia bosnia botswana brazil brunei bulgaria burundi cambodia cameroon canada chad chile china colombia
    congo croatia cuba cyprus czechia denmark dominica ecuador egypt england eritrea estonia ethiopia fiji finland france gabon
    gambia georgia germany ghana greece grenada guatemala guinea guyana haiti honduras hungary iceland india indonesia iran iraq
    ireland israel italy jamaica japan jordan kazakhstan kenya kosovo kuwait kyrgyzstan laos latvia lebanon lesotho liberia libya
    liechtenstein lithuania luxembourg madagascar malawi malaysia maldives mali malta mauritania mauritius mexico moldova monaco
    mongolia montenegro morocco mozambique myanmar namibia nepal netherlands nicaragua niger nigeria norway oman pakistan palestine
    panama paraguay peru philippines poland portugal qatar romania russia rwanda samoa scotland senegal serbia seychelles singapore
    slovakia slovenia somalia spain sudan suriname sweden switzerland syria taiwan tajikistan tanzania thailand togo tonga tunisia
    turkey turkmenistan uganda ukraine uruguay uzbekistan vanuatu venezuela vietnam wales yemen zambia zimbabwe uk us usa uae eu
    britain holland europe africa asia america scandinavia
    """
)
CITIES = words(
    """
    aberdeen abidjan abuja accra adelaide ahmedabad aleppo alexandria algiers almaty amman amsterdam ankara antwerp athens atlanta
    auckland austin baghdad baku baltimore bamako bangalore bangkok barcelona basel bath beijing beirut belfast belgrade bergen
    berlin bern bilbao birmingham bogotá bogota bologna bombay bonn bordeaux boston bratislava bremen brighton brisbane bristol
    brno bruges brussels bucharest budapest busan cairo calgary cambridge canberra cape-town caracas cardiff casablanca charlotte
    chennai chicago cleveland cologne columbus copenhagen cork cracow dakar dallas damascus delhi denver derby detroit dhaka
    dortmund douala dresden dubai dublin dundee durban düsseldorf edinburgh edmonton eindhoven essen exeter florence frankfurt
    freiburg galway gdansk gdańsk geneva genoa ghent glasgow gothenburg granada graz grenoble groningen guadalajara guangzhou
    halifax hamburg hanoi hanover harare havana heidelberg helsinki hiroshima houston hull hyderabad ibadan innsbruck istanbul
    izmir jakarta jeddah jerusalem johannesburg kabul kampala karachi kathmandu khartoum kiev kigali kingston kinshasa kobe kolkata
    kraków krakow kumasi kyiv kyoto lagos lahore lausanne leeds leicester leiden leipzig lille lima limerick lisbon liverpool
    ljubljana london luanda lusaka luxembourg lyon maastricht madrid malaga málaga malmö malmo manchester manila maputo marrakesh
    marseille medellín medellin melbourne memphis miami milan milwaukee minneapolis minsk mombasa montevideo montpellier montreal
    montréal moscow mumbai munich nairobi nantes naples nashville newcastle nice norwich nottingham nuremberg oakland odesa odessa
    osaka oslo ottawa oxford palermo paris perth philadelphia phoenix pittsburgh plymouth podgorica porto portland poznan poznań
    prague pretoria pune quebec québec quito rabat reading reims rennes reykjavik riga rio riyadh rome rotterdam sacramento salzburg
    santiago sapporo sarajevo seattle seoul seville shanghai sheffield shenzhen skopje sofia southampton stockholm stockton
    strasbourg stuttgart swansea sydney taipei tallinn tampere tangier tashkent tbilisi tehran thessaloniki tirana tokyo toronto
    toulouse trieste tripoli tromsø trondheim tunis turin turku utrecht valencia valletta vancouver venice verona vienna vilnius
    warsaw washington wellington winnipeg wroclaw wrocław yangon yaoundé yerevan york zagreb zaragoza zurich zürich brooklyn
    manhattan california texas florida ohio oregon nevada colorado arizona utah bavaria tuscany catalonia andalusia brittany
    cornwall yorkshire kent sussex essex devon wessex tasmania queensland ontario alberta
    """
)
_FIRST_WORDS = words(
    "new los san santa são sao saint st cape buenos rio hong kuala tel port north south east west sri saudi costa el united"
)


def known_place(name: str) -> bool:
    """Whether a name is that of a well-known place, or begins as names of places do ("San", "New")."""
    parts = name.casefold().replace("-", " ").split()
    return bool(parts) and (
        parts[-1] in COUNTRIES or name.casefold() in CITIES or parts[0] in CITIES or (len(parts) > 1 and parts[0] in _FIRST_WORDS)
    )
