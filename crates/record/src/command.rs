//! A command line that can be shown to anybody.

/// The arguments with every absolute path cut to its file name.
///
/// ```
/// let args = ["/usr/bin/anabranch", "explore", "--trace=/home/me/t.csv", "scenarios/a.toml"];
/// assert_eq!(anabranch_record::tidy_command(args), ["anabranch", "explore", "--trace=t.csv", "scenarios/a.toml"]);
/// ```
pub fn tidy_command<S: AsRef<str>>(arguments: impl IntoIterator<Item = S>) -> Vec<String> {
    arguments.into_iter().map(|argument| tidy_argument(argument.as_ref())).collect()
}

fn tidy_argument(argument: &str) -> String {
    // A path with blanks in it is one argument; only inside lists and tables do blanks separate.
    if is_absolute(argument) && !argument.contains(['=', ',', ';']) {
        return file_name(argument);
    }
    let mut tidy = String::with_capacity(argument.len());
    let mut rest = argument;
    while !rest.is_empty() {
        let end = rest.find(SEPARATORS).unwrap_or(rest.len());
        let (token, after) = rest.split_at(end);
        tidy.push_str(&if is_absolute(token) { file_name(token) } else { token.to_owned() });
        let separator = after.chars().next().map_or(0, char::len_utf8);
        tidy.push_str(&after[..separator]);
        rest = &after[separator..];
    }
    tidy
}

/// An argument as a shell takes it.
///
/// ```
/// assert_eq!(["a.toml", "ego.start.y=0.1 m", "it's"].map(anabranch_record::quoted), ["a.toml", "'ego.start.y=0.1 m'", "'it'\\''s'"]);
/// ```
pub fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:#+%@".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

const SEPARATORS: [char; 11] = ['=', ',', ';', '"', '\'', ' ', '{', '}', '[', ']', '@'];

fn is_absolute(token: &str) -> bool {
    let bytes = token.as_bytes();
    let drive =
        bytes.len() >= 3 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'/' | b'\\');
    // `host:/folder` and `file:///folder` are paths, `tcp://host` is not.
    let remote = token.contains(":///") || (token.contains(":/") && !token.contains("://"));
    token.starts_with(['/', '\\', '~']) || drive || remote
}

fn file_name(path: &str) -> String {
    path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(argument: &str, expect: &str) {
        assert_eq!(tidy_command([argument]), [expect]);
    }

    #[test]
    fn absolute_paths_become_file_names() {
        check("/opt/bin/anabranch", "anabranch");
        check("/home/some one/a b.toml", "a b.toml");
        check("C:\\Users\\me\\a.toml", "a.toml");
        check("\\\\host\\share\\a.toml", "a.toml");
        check("~/a.toml", "a.toml");
        check("--driver=/srv/av.py", "--driver=av.py");
        check("--driver={ zmq = \"ipc:///tmp/av\" }", "--driver={ zmq = \"av\" }");
        check("file:///home/me/x.toml", "x.toml");
    }

    #[test]
    fn everything_else_stays() {
        for argument in ["explore", "scenarios/a.toml", "--set", "ego.start.y=0.1 m", "tcp://127.0.0.1:5555", "last#1"]
        {
            check(argument, argument);
        }
    }
}
