//! What the sources say there is: routes and methods. Where something is declared in a way that is not read here, the
//! reading fails rather than pass it over.

use std::path::{Path, PathBuf};

/// The folder of the whole project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A file of the project.
pub(crate) fn read(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// One route and one of its methods.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// As it is declared: `/agents/{id}`
    pub(crate) path: String,
    /// Whether a WebSocket can be asked for there.
    pub(crate) any: bool,
}

/// By which words a method is declared. Whoever may GET may ask for the HEAD of it.
const VERBS: [(&str, &[&str]); 7] = [
    ("get(", &["GET", "HEAD"]),
    ("post(", &["POST"]),
    ("put(", &["PUT"]),
    ("patch(", &["PATCH"]),
    ("delete(", &["DELETE"]),
    ("head(", &["HEAD"]),
    ("any(", &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]),
];
/// Ways of axum to add routes that this file does not read.
const UNREAD: [&str; 5] =
    [".route_service(", ".nest_service(", ".fallback_service(", "method_routing", ".on("];

/// Every route that any crate adds to a router.
pub(crate) fn routes() -> Vec<Route> {
    let mut routes = Vec::new();
    for file in rust_files(&root().join("crates")) {
        let text = std::fs::read_to_string(&file).unwrap();
        if !text.contains("Router") {
            continue;
        }
        for unread in UNREAD {
            assert!(
                !text.contains(unread),
                "{}: {unread} is not read by this test",
                file.display()
            );
        }
        let nested = after(&text, ".nest(").map(|rest| literal(&rest, &file)).collect::<Vec<_>>();
        assert!(nested.len() <= 1, "{}: more than one .nest(", file.display());
        let prefix = nested.first().map_or("", String::as_str);
        for declared in after(&text, ".route(") {
            let path = format!("{prefix}{}", literal(&declared, &file));
            let before = routes.len();
            let handlers = &declared[declared.find(',').unwrap()..];
            for (verb, methods) in VERBS {
                let found = after(handlers, verb).next().is_some();
                let any = verb == "any(";
                let new = methods.iter().filter(|_| found);
                routes.extend(new.map(|method| Route { method, path: path.clone(), any }));
            }
            assert!(routes.len() > before, "{}: {path} has no method", file.display());
        }
        if text.contains(".fallback(") {
            let path = format!("{prefix}/nothing/here");
            routes.extend(["GET", "POST"].map(|method| Route {
                method,
                path: path.clone(),
                any: false,
            }));
        }
    }
    routes.sort();
    routes.dedup();
    routes
}

/// The text in the brackets that each occurrence opens, where it is a word of its own.
fn after<'a>(text: &'a str, opening: &'a str) -> impl Iterator<Item = String> + 'a {
    text.match_indices(opening).filter_map(move |(at, _)| {
        let before = text[..at].chars().next_back();
        if !opening.starts_with('.') && before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            return None;
        }
        let rest = &text[at + opening.len()..];
        let mut depth = 1;
        let end = rest.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        Some(rest[..end.unwrap()].to_owned())
    })
}

fn literal(text: &str, file: &Path) -> String {
    let text = text.trim_start();
    let inner = text.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    inner
        .unwrap_or_else(|| panic!("{}: a route that is no literal: {text}", file.display()))
        .0
        .to_owned()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    files
}

/// The words between quotes that stand before `=>` in the match which begins with these words.
pub(crate) fn arms(file: &str, beginning: &str) -> Vec<String> {
    let text = read(file);
    let (_, rest) = text.split_once(beginning).unwrap_or_else(|| panic!("{file}: no {beginning}"));
    let mut depth = 1;
    let end = rest.find(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0
    });
    let lines = rest[..end.unwrap()].lines().map(str::trim);
    let arm = |line: &str| Some(line.strip_prefix('"')?.split_once("\" =>")?.0.to_owned());
    let found: Vec<_> = lines.filter_map(arm).collect();
    assert!(!found.is_empty(), "{file}: nothing is matched after {beginning}");
    found
}

/// The texts that a line begins with, between these words and the end of the list that they open.
pub(crate) fn pairs(file: &str, beginning: &str) -> Vec<String> {
    let text = read(file);
    let (_, rest) = text.split_once(beginning).unwrap_or_else(|| panic!("{file}: no {beginning}"));
    let list = rest.split_once("];").unwrap().0;
    let found: Vec<_> = list.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(!found.is_empty(), "{file}: nothing is listed after {beginning}");
    found
}
