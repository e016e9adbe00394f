"""What only looks like a secret stays as it is: hashes, identifiers, versions, data, placeholders, code and talk about secrets."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from random import Random

import pytest

from extraction.scrubbing import Scrubber
from extraction.threats import ThreatScanner

SCRUBBER = Scrubber(b"test key")
SCANNER = ThreatScanner()
DIGESTS = {name: hashlib.new(name, b"Alice left Acme.").hexdigest() for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")}
IMAGE = b64encode(bytes(Random("image").randrange(256) for _ in range(3000))).decode()
UUID = "3f2b8c1e-5d4a-4e6f-9a7b-0c1d2e3f4a5b"

AROUND = [
    "{}",
    "it is {}",
    "commit {} fixes it",
    '{{"id": "{}", "n": 2}}',
    "request {} failed with 500",
    "| name | {} |",
    "checksum: {}",
    "ID={}\n",
    "see https://x.example/a/{}/b?page=2",
    "`{}`",
    'etag: "{}"',
    "cache key {}",
]
VALUES = {
    **DIGESTS,
    "short commit": "4a5d8f2",
    "sha256 image": f"sha256:{DIGESTS['sha256']}",
    "integrity": "sha512-" + b64encode(hashlib.sha512(b"x").digest()).decode(),
    "uuid": UUID,
    "upper uuid": UUID.upper(),
    "ulid": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "object id": "507f1f77bcf86cd799439011",
    "version": "1.2.3-rc.4+build.20250301",
    "python": "3.11.7",
    "ipv6": "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
    "mac": "00:1B:44:11:3A:B7",
    "isbn": "978-3-16-148410-0",
    "number": "1234567890123456789",
    "phone": "+49 30 901820",
    "float": "3.141592653589793",
    "time": "2025-03-01T12:00:00.123456+02:00",
    "path": "/usr/lib/python3.11/site-packages/sqlalchemy/engine/default.py",
    "windows path": "C:\\Users\\Maya\\AppData\\Local\\Temp\\x1.log",
    "class": "AbstractSingletonProxyFactoryBean2",
    "snake": "test_that_the_2nd_claim_wins_over_the_1st",
    "kebab": "my-very-long-branch-name-for-issue-1234",
    "constant": "MAX_CONCURRENT_REQUESTS_PER_HOST_2",
    "arn": "arn:aws:iam::123456789012:role/deployer",
    "mail": "maya.lindt42@example.com",
    "host": "ip-10-0-12-34.eu-central-1.compute.internal",
    "s3": "s3://acme-prod-logs-2025/year=2025/month=03/part-00000.parquet",
    "image": "registry.example.com:5000/acme/billing@sha256:" + DIGESTS["sha256"],
    "public key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGq1bQ7Zx maya@laptop",
}
TEXTS = [
    f"data:image/png;base64,{IMAGE}",
    f"![logo](data:image/png;base64,{IMAGE[:400]})",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEabcdefgh\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCARygAwIBAgIBADANBgkqhkiG9w0BAQsFADAA\n-----END CERTIFICATE-----",
    "OPENAI_API_KEY=<YOUR_KEY>",
    "export GITHUB_TOKEN=$TOKEN",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password: {{ db_password }}",
    "API_KEY=xxxxxxxxxxxxxxxx",
    "api_key: ********",
    "PASSWORD=changeme",
    "api_key = 'your-api-key-here'",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "sk-...your key...",
    "password = get_password()",
    "password = getpass.getpass('Password: ')",
    "token: str",
    "token: str | None = None",
    "def login(user: str, password: str) -> Token: ...",
    "const token = await getToken(user);",
    "this.password = password;",
    "self.api_key = api_key",
    "return User(name=name, password=hash_password(password), token=new_token())",
    "if (password !== confirmPassword) throw new Error('password mismatch');",
    "os.environ['DB_PASSWORD'] and process.env.API_KEY",
    "settings.SECRET_KEY, config.api_key, secrets.token_hex(16)",
    "<input type='password' name='password' placeholder='Password'>",
    "CREATE TABLE users (id int, password varchar(255), token text);",
    "SELECT password FROM users WHERE id = 1",
    "the password policy says 12 characters",
    "the password is in the vault",
    "My password manager is Bitwarden.",
    "Password must contain at least 8 characters, one number and one symbol.",
    "I forgot my password again, so I reset it yesterday at 10:30.",
    "We rotate the tokens every 90 days; max_tokens=4096, temperature 0.2.",
    "The token bucket holds 100 tokens, and each request takes 1.",
    "a secret santa for 12 people, budget: 20 euros",
    "the secret is to add 2 spoons of honey",
    "primary key, foreign key, sort key: created_at, partition key: user_id",
    "pytest -k test_token --maxfail=1 -p no:cacheprovider",
    "docker run -p 8080:80 -e TZ=UTC nginx:1.27",
    "mysql -u root -p app < dump.sql",
    'curl -u "$USER:$PASS" https://x.example',
    "git clone git@github.com:acme/billing.git && git checkout 4a5d8f2c",
    "ssh://git@github.com/acme/billing.git and https://github.com/acme/billing/pull/42",
    "http://localhost:8000/graphql, redis://localhost:6379/0, postgresql://db:5432/app",
    "cookie: chocolate chip, 200 g of flour",
    "eyJ is how JSON begins in base64",
    "[REDACTED:github-token:0123456789ab] was here",
    "The API returns `token_type: bearer` and `expires_in: 3600`.",
    "pass the salt; passport no. 12; compass: 45 degrees; bypass=true",
    "Das Passwort wurde gestern geändert.",
    "La contraseña es demasiado corta.",
    "密码是什么？我忘记了。",
    "пароль слишком короткий",
    "I keep my keys: house key, car key, bike key.",
    "author: maya, authority: 3, authentication: OAuth2 with PKCE",
    "credentials: see the wiki page on onboarding",
    "login: maya@example.com, then click on the 2nd tab",
]


@pytest.mark.parametrize("kind", VALUES)
def test_identifiers_hashes_and_numbers_survive_wherever_they_stand(kind: str) -> None:
    for around in AROUND:
        text = around.format(VALUES[kind])
        assert SCRUBBER.scrub(text).text == text
        assert not SCANNER.scan(text).quarantine


@pytest.mark.parametrize("text", TEXTS, ids=[text[:40] for text in TEXTS])
def test_placeholders_code_and_talk_survive(text: str) -> None:
    assert SCRUBBER.scrub(text).text == text
    assert SCRUBBER.scrub(f"Alice said:\n{text}\nBob stayed.").findings == ()
    assert not SCANNER.scan(text).quarantine
