"""Made-up secrets of many kinds in varied surroundings, always the same ones: no scrubbed text, file or queue may hold any of them.

The beginnings of keys are written in parts, so that no scanner of repositories takes this file for a leak.
"""

from __future__ import annotations

import string
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from random import Random

HEX = "0123456789abcdef"
MIXED = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
URLSAFE = MIXED + "_-"


@dataclass(frozen=True, slots=True)
class Sample:
    """One text that holds a secret of a kind. `secret` may stand nowhere afterwards; `text` is what somebody hands in."""

    kind: str
    secret: str
    text: str


AROUND = (
    "{}",
    "I pasted it by mistake, it's {}, can you rotate it?",
    "KEY={}\nexport PORT=8080\n",
    '{{"user": "maya", "value": "{}", "n": 3}}',
    "client = Client(\n    host='api.example.com',\n    auth=\"{}\",\n)\n",
    "2025-03-01T10:00:00Z INFO worker-3 connected with {} in 31 ms",
    "Use `{}` for staging, **not** for production.",
    "```bash\ncurl -s https://api.example.com/v1/items -H 'X-Custom: {}'\n```",
    "https://api.example.com/v2/items?page=2&k={}&sort=asc",
    "Größe: 3 m²; der Schlüssel lautet „{}“ – bitte löschen.",
    "密钥是{}，请不要外传。",
    "Alice left Acme in March.\n\n- old: {}\n- new: to be made\n\nBob stayed.",
    "<config><item name='a'>{}</item></config>",
    "diff --git a/.env b/.env\n-A={}\n+A=\n",
    "maya,{},2025-03-01",
    "({})",
    "🔑 {} 🔑",
    "> {}\n\nThat one is dead, right?",
)
"""For kinds that are known by their looks, wherever they stand."""


def _some(chance: Random, alphabet: str, length: int) -> str:
    """Random text with at least a letter and a digit in it, as every real key of this length has."""
    while True:
        text = "".join(chance.choices(alphabet, k=length))
        if (any(c.isdigit() for c in text) and any(c.isalpha() for c in text)) or alphabet.isdigit():
            return text


def _token(prefix: str, alphabet: str, length: int, suffix: str = "") -> Callable[[Random], str]:
    return lambda chance: prefix + _some(chance, alphabet, length) + suffix


def _uuid(chance: Random) -> str:
    return "-".join(_some(chance, HEX, length) for length in (8, 4, 4, 4, 12))


def _jwt(chance: Random) -> str:
    parts = ('{"alg":"HS256","typ":"JWT"}', f'{{"sub":"{_some(chance, string.digits, 9)}","name":"Maya"}}')
    return ".".join([b64encode(part.encode()).decode().rstrip("=") for part in parts] + [_some(chance, URLSAFE, 43)])


LOOKS: dict[str, Callable[[Random], str]] = {
    "anthropic": _token("sk-" + "ant-api03-", URLSAFE, 93, "AA"),
    "openai": _token("sk-" + "proj-", MIXED, 48),
    "openai-legacy": _token("sk-", MIXED, 48),
    "github-classic": _token("gh" + "p_", MIXED, 36),
    "github-app": _token("gh" + "s_", MIXED, 36),
    "github-fine": lambda chance: "github_" + "pat_" + _some(chance, MIXED, 22) + "_" + _some(chance, MIXED, 59),
    "gitlab": _token("gl" + "pat-", URLSAFE, 20, "z"),
    "aws-id": _token("AK" + "IA", UPPER, 16),
    "aws-session": _token("IQo" + "Jb3JpZ2lu", MIXED + "+/", 300, "=="),
    "google-api": _token("AI" + "za", URLSAFE, 34, "x"),
    "google-oauth": _token("GOC" + "SPX-", URLSAFE, 27, "x"),
    "google-access": _token("ya" + "29.", URLSAFE, 120, "x"),
    "azure-client": lambda chance: _some(chance, MIXED, 3) + "8" + "Q~" + _some(chance, MIXED, 34),
    "slack-bot": lambda chance: (
        "xo" + "xb-" + "-".join((_some(chance, string.digits, 12), _some(chance, string.digits, 12), _some(chance, MIXED, 24)))
    ),
    "slack-app": lambda chance: (
        "xa" + "pp-1-A" + _some(chance, UPPER, 10) + "-" + _some(chance, string.digits, 13) + "-" + _some(chance, HEX, 64)
    ),
    "discord-bot": lambda chance: "M" + _some(chance, MIXED, 25) + "." + _some(chance, MIXED, 6) + "." + _some(chance, URLSAFE, 37) + "x",
    "telegram-bot": lambda chance: _some(chance, "123456789", 10) + ":A" + "A" + _some(chance, URLSAFE, 32) + "x",
    "stripe": _token("sk" + "_live_", MIXED, 24),
    "stripe-webhook": _token("wh" + "sec_", MIXED, 32),
    "twilio": _token("S" + "K", HEX, 32),
    "sendgrid": lambda chance: "S" + "G." + _some(chance, URLSAFE, 22) + "." + _some(chance, URLSAFE, 42) + "x",
    "mailgun": _token("ke" + "y-", HEX, 32),
    "mailchimp": _token("", HEX, 32, "-" + "us14"),
    "npm": _token("np" + "m_", MIXED, 36),
    "pypi": _token("py" + "pi-AgEIcHlwaS5vcmc", URLSAFE, 120, "x"),
    "rubygems": _token("ruby" + "gems_", HEX, 48),
    "docker": _token("dck" + "r_pat_", URLSAFE, 26, "x"),
    "huggingface": _token("h" + "f_", MIXED, 34),
    "databricks": _token("da" + "pi", HEX, 32),
    "digitalocean": _token("do" + "p_v1_", HEX, 64),
    "newrelic": _token("NR" + "AK-", UPPER, 27),
    "sentry": _token("sntr" + "ys_", MIXED, 80),
    "linear": _token("li" + "n_api_", MIXED, 40),
    "notion": _token("nt" + "n_", MIXED, 46),
    "airtable": lambda chance: "pa" + "t" + _some(chance, MIXED, 14) + "." + _some(chance, HEX, 64),
    "atlassian": _token("ATA" + "TT3xFfGF0", URLSAFE, 180, "x"),
    "shopify": _token("shp" + "at_", HEX, 32),
    "square": _token("sq" + "0csp-", URLSAFE, 42, "x"),
    "paypal-braintree": lambda chance: "access_" + "token$production$" + _some(chance, HEX, 16) + "$" + _some(chance, HEX, 32),
    "supabase": _token("sb" + "p_", HEX, 40),
    "netlify": _token("nf" + "p_", MIXED, 36),
    "grafana": lambda chance: "gls" + "a_" + _some(chance, MIXED, 32) + "_" + _some(chance, HEX, 8),
    "vault": _token("hv" + "s.", URLSAFE, 90, "x"),
    "pulumi": _token("pu" + "l-", HEX, 40),
    "terraform": lambda chance: _some(chance, MIXED, 14) + ".atlas" + "v1." + _some(chance, URLSAFE, 66) + "x",
    "postman": lambda chance: "PM" + "AK-" + _some(chance, HEX, 24) + "-" + _some(chance, HEX, 34),
    "replicate": _token("r" + "8_", MIXED, 37),
    "groq": _token("gs" + "k_", MIXED, 52),
    "xai": _token("xa" + "i-", MIXED, 80),
    "perplexity": _token("pp" + "lx-", MIXED, 48),
    "tailscale": _token("ts" + "key-auth-", MIXED, 30),
    "hubspot": lambda chance: "pa" + "t-na1-" + _uuid(chance),
    "jwt": _jwt,
}


def _password(chance: Random) -> str:
    """A password as a person makes one: letters, digits and perhaps a sign."""
    return _word(chance) + str(chance.randint(10, 9999)) + chance.choice(("", "!", "-x", "_Q"))


def _word(chance: Random) -> str:
    return "".join(chance.choice(pair) for pair in ("bdfgklmnprst", "aeiou", "bdfgklmnprst", "aeiou", "lmnrst")).capitalize()


PLACES: dict[str, tuple[Callable[[Random], str], tuple[str, ...]]] = {
    "aws-secret": (
        lambda chance: _some(chance, MIXED + "/+", 39) + "k",
        ("aws_secret_access_key = {}", '"SecretAccessKey": "{}",', "export AWS_SECRET_ACCESS_KEY='{}'"),
    ),
    "azure-storage": (
        lambda chance: _some(chance, MIXED + "/+", 86) + "==",
        ("DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={};EndpointSuffix=core.windows.net", "AZURE_STORAGE_KEY={}\n"),
    ),
    "azure-sas": (
        lambda chance: _some(chance, MIXED, 42) + "%3D",
        (
            "https://acme.blob.core.windows.net/c/f.txt?sv=2022-11-02&sp=r&sig={}",
            "<a href='https://a.blob.core.windows.net/b?sig={}&se=2025'>f</a>",
        ),
    ),
    "slack-webhook": (
        lambda chance: _some(chance, MIXED, 24),
        ("https://hooks.slack.com/services/T01ABCDEF/B02GHIJKL/{}", "webhook: hooks.slack.com/services/T0A1B2C3D/B0A1B2C3D/{} (ops)"),
    ),
    "discord-webhook": (lambda chance: _some(chance, URLSAFE, 67) + "x", ("https://discord.com/api/webhooks/123456789012345678/{}",)),
    "cloudflare": (lambda chance: _some(chance, MIXED, 40), ("CLOUDFLARE_API_TOKEN={}", "the Cloudflare API token is {} now")),
    "fastly": (
        lambda chance: _some(chance, MIXED, 32),
        ("curl -H 'Fastly-Key: {}' https://api.fastly.com/service", "FASTLY_API_TOKEN: {}"),
    ),
    "datadog": (lambda chance: _some(chance, HEX, 32), ("DD_API_KEY={}", "headers = {{'DD-API-KEY': '{}'}}")),
    "heroku": (_uuid, ("HEROKU_API_KEY={}", "heroku key: {}")),
    "vercel": (lambda chance: _some(chance, MIXED, 24), ("VERCEL_TOKEN={}", "vercel deploy --token {}")),
    "twilio-auth": (lambda chance: _some(chance, HEX, 32), ("TWILIO_AUTH_TOKEN={}", "Client('AC0123', auth_token='{}')")),
    "sentry-dsn": (lambda chance: _some(chance, HEX, 32), ("SENTRY_DSN=https://{}@o447951.ingest.sentry.io/5429219",)),
    "docker-auth": (
        lambda chance: b64encode(f"maya:{_password(chance)}".encode()).decode(),
        ('{{"auths": {{"ghcr.io": {{"auth": "{}"}}}}}}',),
    ),
    "npmrc": (lambda chance: _some(chance, MIXED, 36), ("//npm.example.com/:_authToken={}\nalways-auth=true",)),
    "url-password": (
        _password,
        (
            "postgresql://app:{}@db.internal:5432/app?sslmode=require",
            "redis://:{}@cache:6379/0",
            "mongodb+srv://maya:{}@cluster0.abcde.mongodb.net/",
            "git clone https://maya:{}@git.example.com/acme/billing.git",
        ),
    ),
    "url-query": (
        lambda chance: _some(chance, MIXED, 28),
        ("https://api.example.com/v1?access_token={}&q=a", "GET /cb?code=1&client_secret={} HTTP/1.1"),
    ),
    "env-password": (_password, ("DB_PASSWORD={}", "export MYSQL_ROOT_PASSWORD='{}'", "  POSTGRES_PASSWORD: {}\n  POSTGRES_USER: app")),
    "yaml-password": (_password, ("db:\n  host: localhost\n  password: {}\n  port: 5432", '- name: smtp\n  passwd: "{}"')),
    "json-password": (_password, ('{{"user": "maya", "password": "{}"}}', '{{\\"db_password\\": \\"{}\\"}}')),
    "code-password": (_password, ("conn = connect(user='app', password='{}')", 'String dbPassword = "{}";', "config['password'] = \"{}\"")),
    "prose-password": (
        _password,
        (
            "the password is {}",
            "My Netflix password is {}, please keep it.",
            "wifi password: {}",
            "I changed the password to {} yesterday.",
            "Das Passwort lautet {}.",
        ),
    ),
    "foreign-password": (_password, ("mi contraseña es {}", "пароль: {}", "密码：{}", "a senha é {}", "mot de passe : {}")),
    "flag-password": (
        _password,
        ("psql --password={} -h db", "backup --passphrase {} /srv", "sshpass -p {} ssh root@10.0.0.4", "mysql -u root -p{} app"),
    ),
    "curl-user": (_password, ("curl -u admin:{} https://api.example.com", "curl -s --user 'maya:{}' https://x.example")),
    "netrc": (_password, ("machine api.example.com\n  login maya\n  password {}\n",)),
    "pgpass": (_password, ("db.internal:5432:app:maya:{}\n",)),
    "connection-string": (
        _password,
        ("Server=tcp:db,1433;Database=app;User ID=sa;Password={};Encrypt=true", "Driver={{ODBC 18}};UID=app;PWD={};"),
    ),
    "authorization": (
        lambda chance: _some(chance, URLSAFE, 38) + "x",
        ("Authorization: Bearer {}", 'curl -H "Authorization: token {}" https://x', '{{"headers": {{"authorization": "Bearer {}"}}}}'),
    ),
    "basic-auth": (
        lambda chance: b64encode(f"maya:{_password(chance)}".encode()).decode(),
        ("Authorization: Basic {}", "'Authorization': 'Basic {}',"),
    ),
    "cookie": (lambda chance: _some(chance, MIXED, 40), ("Cookie: theme=dark; sessionid={}", "Set-Cookie: sid={}; Path=/; HttpOnly")),
    "api-key-header": (lambda chance: _some(chance, MIXED, 32), ("X-Api-Key: {}", "-H 'PRIVATE-TOKEN: {}'", '"x-goog-api-key": "{}"')),
    "named-secret": (
        lambda chance: _some(chance, MIXED, 32),
        ("client_secret={}", 'api_key: "{}"', "SECRET_KEY = '{}'", "the api key is {}", "const authToken = `{}`;", "JWT_SECRET={}"),
    ),
    "entropy": (lambda chance: _some(chance, MIXED + "+/", 43) + "=", ("webhook secret {}", "encryption_key_b64: {}", "session key '{}'")),
    "seed-phrase": (
        lambda chance: " ".join(
            chance.choices(("ocean", "tiger", "velvet", "gravity", "puzzle", "candle", "ribbon", "matrix", "walnut"), k=12)
        ),
        ("seed phrase: {}", "My recovery phrase is {}"),
    ),
    "age-key": (lambda chance: "AGE-SECRET-" + "KEY-1" + _some(chance, UPPER, 58), ("# created: 2025\n{}\n",)),
}
"""For kinds that are known by what stands beside them: how one is made, and the texts that it stands in."""

BLOCKS = ("RSA ", "OPENSSH ", "EC ", "", "ENCRYPTED ", "PGP ")


def _blocks() -> Iterator[Sample]:
    """Private keys; of each the line in the middle is what is looked for."""
    chance = Random("private keys")
    for number, name in enumerate(BLOCKS):
        lines = [_some(chance, MIXED + "+/", 64) for _ in range(5)] + [_some(chance, MIXED, 30) + "=="]
        kind = f"-----{{}} {name}PRIVATE " + ("KEY BLOCK-----" if name == "PGP " else "KEY-----")
        key = "\n".join([kind.format("BEGIN"), *lines, kind.format("END")])
        around = ("{}", "my key:\n{}\nplease forget it", '{{"private_key": "{}"}}', "> {}", "    {}", "é{}ü")[number % 6]
        text = key.replace("\n", "\\n") if "private_key" in around else key.replace("\n", "\n> " if around.startswith(">") else "\n")
        yield Sample("private-key", lines[number % 5], around.format(text))


def samples() -> list[Sample]:
    """All of them, the same in every run: 150 or more, of 30 kinds or more; every secret occurs in one text only."""
    around = cycle(AROUND)
    found = [
        Sample(kind, secret, next(around).format(secret))
        for kind, make in LOOKS.items()
        for secret in [make(Random(f"{kind} {number}")) for number in range(3)]
    ]
    for kind, (make, texts) in PLACES.items():
        for number, text in enumerate(texts):
            secret = make(Random(f"{kind} {number}"))
            before, after = (("", ""), ("Alice left Acme.\n", "\nBob stayed."), ("für Zoë:\n", ""))[number % 3]
            found.append(Sample(kind, secret, before + text.format(secret) + after))
    return [*found, *_blocks()]
