use crate::ScrubberBuilder;
use crate::marker::OPENING;
use lockgate_contract::ports::Redactor as _;

/// The text with `‹›` in place of each marker.
fn scrub(text: &str) -> String {
    let mut scrubbed = ScrubberBuilder::new().build().unwrap().scrub(text).into_owned();
    while let Some(start) = scrubbed.find(OPENING) {
        let end = start + scrubbed[start..].find(']').unwrap() + 1;
        scrubbed.replace_range(start..end, "‹›");
    }
    scrubbed
}

#[test]
fn values_of_sensitive_keys_go() {
    for (text, expected) in [
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=‹›"),
        ("export GITHUB_TOKEN=letmein;x", "export GITHUB_TOKEN=‹›"),
        ("ACME_TOKEN='two words'\nPATH=/bin", "ACME_TOKEN='‹›'\nPATH=/bin"),
        ("password=letmein\nuser=me", "password=‹›\nuser=me"),
        ("db:\n  password: hunter2\n  user: me", "db:\n  password: ‹›\n  user: me"),
        ("password: hunter2 # old", "password: ‹› # old"),
        ("password = hunter2", "password = ‹›"),
        (r#"{"password":"letmein","user":"me"}"#, r#"{"password":"‹›","user":"me"}"#),
        (r#"{"password": "a\"b\\", "n": 1}"#, r#"{"password": "‹›", "n": 1}"#),
        (r#"{"body":"{\"apiKey\":\"abc\",\"n\":1}"}"#, r#"{"body":"{\"apiKey\":\"‹›\",\"n\":1}"}"#),
        (r#"{"line":"A=1\nAPI_KEY=abc\nB=2"}"#, r#"{"line":"A=1\nAPI_KEY=‹›\nB=2"}"#),
        (r#"{"a":"\npassword=hunter2\n"}"#, r#"{"a":"\npassword=‹›\n"}"#),
        ("GET /x?page=2&access_token=abcdef&n=1", "GET /x?page=2&access_token=‹›&n=1"),
        ("let api_key = \"abc\";", "let api_key = \"‹›\";"),
        ("os.environ['API_KEY'] = 'abc'", "os.environ['API_KEY'] = '‹›'"),
        (
            "params[:api_key] => x, 'secret' => 'abc', :token => 'abc'",
            "params[:api_key] => x, 'secret' => '‹›', :token => '‹›'",
        ),
        ("<password>letmein</password>", "<password>‹›</password>"),
        ("Server=db;Uid=app;Pwd=hunter2;", "Server=db;Uid=app;Pwd=‹›;"),
        ("X-API-Key: abc123def", "X-API-Key: ‹›"),
        ("Authorization: Bearer abc", "Authorization: Bearer ‹›"),
        ("curl -H 'Authorization: token abc' https://x", "curl -H 'Authorization: token ‹›' https://x"),
        ("curl -H \"Authorization: Basic dXNlcjpwYXNz\" https://x", "curl -H \"Authorization: Basic ‹›\" https://x"),
        (r#"{"authorization":"Bearer abc","n":1}"#, r#"{"authorization":"Bearer ‹›","n":1}"#),
        ("Cookie: a=b; c=d\nHost: x", "Cookie: ‹›\nHost: x"),
        ("set-cookie: session=abc; Path=/", "set-cookie: ‹›"),
        ("\u{1b}[31mpassword=hunter2\u{1b}[0m", "\u{1b}[31mpassword=‹›\u{1b}[0m"),
        ("{\"password\": \"cut off he", "{\"password\": \"‹›"),
    ] {
        assert_eq!(scrub(text), expected, "{text}");
    }
}

#[test]
fn harmless_values_stay() {
    for text in [
        "password: String,",
        "password: Option<String>",
        "password: &str",
        "token: str = None",
        "token = self.token",
        "token = tokens[0]",
        "token = next_token()",
        "token == \"abc\"",
        "Token::new(\"abc\")",
        "connect(password=password, user=user)",
        "    password=settings.DB_PASSWORD,",
        "password: must have 8 characters",
        "password: required",
        "Enter password: ",
        "api_key=os.environ[\"API_KEY\"]",
        "API_KEY=$API_KEY",
        "API_KEY=${API_KEY}",
        "API_KEY=<your key>",
        "API_KEY=your-api-key",
        "API_KEY=",
        "PASSWORD=changeme",
        r#"{"password":"","token":"<token>","secret":"***"}"#,
        r#"{"password":null,"token":12345678,"secret":true}"#,
        r#"{"label":"password:","next":"value1"}"#,
        r#"url = base + "?token=" + token1 + "&x=1""#,
        "{\"next_page_token\":\"abcdef123456\",\"max_tokens\":100}",
        "nextPageToken: abc123def456",
        "token_count=1234567",
        "secretary: anna2000",
        "secret: see /run/secrets",
        "PWD=/home/me\nOLDPWD=/tmp",
        "42 passed, 1 failed; bypass=1",
        "primary_key=abc123",
        "keyboard: qwerty123",
        "image: registry/token:v1.2.3-alpha4",
        "Authorization: required",
        "authorization: Bearer <token>",
        "a cookie: something that browsers keep",
        "cookie = request.cookies.get(name)",
        "fn token(&self) -> &str",
        "use crate::token;",
        "{\"others, without secret\": \"deny\"}",
        "Error::Token => \"invalid token\", Self::PrivateKey => b\"PRIVATE\"",
        "ExporterSecret => \"exporter label\",",
        "pub Authorization: super::Win32::HANDLE2,",
        "unexpected token: \"}\" after \"x\"",
        "pub Token: super::super::Win32::HANDLE2,",
        "fn f(tokens: Vec<Token>) -> Option<Token> { None }",
        "pub const INET6_TOKEN: _bindgen_ty_5 = _bindgen_ty_5::INET6_TOKEN;",
        "secrets: inherit",
    ] {
        assert_eq!(scrub(text), text);
    }
}

#[test]
fn a_working_directory_is_known_by_the_end_of_its_key() {
    for (key, value, expected) in [
        ("PWD", "/home/me", true),
        ("OLDPWD", "~/x", true),
        ("pwd", "C:\\x", true),
        ("pwd", "hunter22", false),
        ("password", "/home/me", false),
        ("wd", "/home/me", false),
        // Every character of a key may be of several bytes.
        ("password\u{1cf30}", ".", false),
        ("pwdé", "/home/me", false),
        ("é", "/", false),
        ("", "/", false),
    ] {
        assert_eq!(super::is_directory_variable(key, value), expected, "{key}={value}");
    }
}
