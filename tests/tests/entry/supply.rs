//! What is built is what is locked, from where it should come, under licences that may be, and none of our code is
//! unsafe. (`cargo deny` and `npm audit` look at advisories, in `./dev prove`.)

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use switchboard_tests::Proof;

use crate::source::{self, root};

/// Below these there are known faults, or the reason for the choice is gone.
const AT_LEAST: [(&str, &str, &str); 14] = [
    (
        "libsqlite3-sys",
        "0.37.0",
        "SQLite 3.51.3: before it a log that is reset could damage the database",
    ),
    ("sqlx", "0.9.0", "brings that SQLite"),
    ("h2", "0.4.16", "RUSTSEC-2026-0258"),
    ("lru", "0.18.2", "an unsound iterator"),
    ("scc", "3.8.4", "RUSTSEC-2026-0205"),
    ("time", "0.3.47", "a stack that grows with what is parsed"),
    ("bytes", "1.11.1", "an overflow"),
    ("tokio", "1.54.1", "1.54.0 was withdrawn"),
    ("rustls", "0.23.46", "the newest when it was chosen"),
    ("rustls-webpki", "0.103.16", "the newest when it was chosen"),
    ("aws-lc-sys", "0.47.0", "the newest when it was chosen"),
    ("mdns-sd", "0.21.7", "a deadlock with slow readers before 0.21.6"),
    ("tungstenite", "0.29.0", "the one that axum uses"),
    ("jsonschema", "0.60.0", "fetches nothing"),
];
/// Known to be unsafe to use, or no longer looked after.
const NEVER: [&str; 5] = ["rsa", "backoff", "rustls-pemfile", "openssl-sys", "atty"];
/// Two of them in one program would be two sets of faults, or would not link.
const ONCE: [&str; 4] = ["tungstenite", "libsqlite3-sys", "rustls", "axum"];
/// Licences that may be, each alone. MPL-2.0 binds whoever changes those files.
const LICENCES: [&str; 13] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];
/// Words of a build script that fetches.
const FETCHES: [&str; 12] = [
    "reqwest",
    "ureq",
    "attohttpc",
    "curl::",
    "\"curl\"",
    "\"wget\"",
    "TcpStream",
    "hyper::",
    "git2::",
    "\"git\"",
    "download(",
    "powershell",
];
/// Build scripts that have such a word and fetch nothing when we build, and why.
const EXCUSED: [(&str, &str); 0] = [];

struct Package {
    name: String,
    version: String,
    source: Option<String>,
    checksum: bool,
}

fn locked() -> Vec<Package> {
    let text = source::read("Cargo.lock");
    let mut all = Vec::new();
    for block in text.split("[[package]]").skip(1) {
        let field = |key: &str| {
            let (_, rest) = block.split_once(&format!("\n{key} = \""))?;
            Some(rest.split_once('"')?.0.to_owned())
        };
        all.push(Package {
            name: field("name").unwrap(),
            version: field("version").unwrap(),
            source: field("source"),
            checksum: field("checksum").is_some(),
        });
    }
    all
}

fn numbers(version: &str) -> Vec<u64> {
    let plain = version.split(['-', '+']).next().unwrap();
    plain.split('.').map(|part| part.parse().unwrap()).collect()
}

fn versions(proof: &mut Proof) {
    let locked = locked();
    for (name, least, why) in AT_LEAST {
        for one in locked.iter().filter(|one| one.name == name) {
            let fits = numbers(&one.version) >= numbers(least);
            proof.check(format!("{name} {} is below {least}: {why}", one.version), fits);
        }
    }
    for name in NEVER {
        proof.check(format!("{name} is in Cargo.lock"), locked.iter().all(|one| one.name != name));
    }
    for name in ONCE {
        let count = locked.iter().filter(|one| one.name == name).count();
        proof.check(format!("{name} is there {count} times"), count == 1);
    }
    for one in &locked {
        let name = format!("{} {} comes from {:?}", one.name, one.version, one.source);
        let fits = match one.source.as_deref() {
            None => is_ours(&one.name),
            Some(source) => {
                source == "registry+https://github.com/rust-lang/crates.io-index" && one.checksum
            }
        };
        proof.check(name, fits);
    }
}

fn is_ours(name: &str) -> bool {
    ["bub", "switchboard", "switchboardd"].contains(&name) || name.starts_with("switchboard-")
}

fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut command = Command::new(cargo);
    command.current_dir(root()).args([
        "metadata",
        "--format-version",
        "1",
        "--offline",
        "--locked",
    ]);
    let output = command.args(["--filter-platform", &host]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the lock file does not fit the manifests: {told}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Whether an expression can be met by licences that may be.
fn may_be(expression: &str) -> bool {
    let plain = expression.replace('/', " OR ").replace("  ", " ");
    let plain = plain.replace(['(', ')'], "");
    // No expression here mixes the two so that brackets would matter for this question: each part joined by AND must
    // be met by one of the licences that it names.
    plain.split(" AND ").all(|part| part.split(" OR ").any(|one| LICENCES.contains(&one.trim())))
}

fn packages(proof: &mut Proof) -> usize {
    let metadata = metadata();
    let mut scripts = 0;
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        if is_ours(name) {
            let lints =
                std::fs::read_to_string(package["manifest_path"].as_str().unwrap()).unwrap();
            proof.check(
                format!("{name} takes the lints of all"),
                lints.contains("[lints]\nworkspace = true"),
            );
            continue;
        }
        let licence = package["license"].as_str().unwrap_or("none");
        proof.check(format!("{name} is under {licence}"), may_be(licence));
        for target in package["targets"].as_array().unwrap() {
            if target["kind"][0] != "custom-build" {
                continue;
            }
            scripts += 1;
            let found = fetching(Path::new(target["src_path"].as_str().unwrap()));
            let excused = EXCUSED.iter().any(|(excused, _)| *excused == name);
            proof.check(
                format!("the build script of {name} has {found:?}"),
                found.is_empty() || excused,
            );
        }
    }
    scripts
}

/// The words of fetching in a build script and in what lies beside it in its folder, if that is its own.
fn fetching(script: &Path) -> Vec<String> {
    let folder = script.parent().unwrap();
    let mut files = vec![script.to_owned()];
    if folder.file_name().is_some_and(|name| name == "build" || name == "builder") {
        files = rust_files(folder);
    }
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap_or_default());
    let text: String = texts.collect();
    FETCHES.iter().filter(|word| text.contains(**word)).map(|word| (*word).to_owned()).collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(rust_files(&path)),
            false if path.extension().is_some_and(|end| end == "rs") => files.push(path),
            false => {}
        }
    }
    files
}

fn our_code(proof: &mut Proof) -> usize {
    let manifest = source::read("Cargo.toml");
    proof.check(
        "unsafe code is forbidden everywhere",
        manifest.contains("unsafe_code = \"forbid\""),
    );
    let mut count = 0;
    for folder in ["crates", "src-tauri", "tests", "bench"] {
        for file in rust_files(&root().join(folder)) {
            count += 1;
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.lines().map(|line| line.split("//").next().unwrap());
            // Not as a word in a text, as it stands here.
            let found = code.clone().any(|line| {
                ["unsafe {", "unsafe fn", "unsafe impl", "allow(unsafe_code"].iter().any(|word| {
                    line.trim_start().starts_with(word) || line.contains(&format!("= {word}"))
                })
            });
            proof.check(format!("{} has unsafe code", file.display()), !found);
        }
    }
    count
}

/// Whether a package is ever put in place on a Linux of the usual kinds; the lock file names those of other systems, and
/// does not know the content of all of them.
fn is_for_here(package: &Value) -> bool {
    let names = |key: &str, wanted: &[&str]| {
        let list = package[key].as_array();
        list.is_none_or(|list| list.iter().any(|one| wanted.contains(&one.as_str().unwrap())))
    };
    names("os", &["linux"]) && names("cpu", &["x64", "arm64"])
}

/// The console's packages: by content, from the registry, without scripts; the lock file fits.
fn node(proof: &mut Proof) -> usize {
    let mut count = 0;
    for folder in ["ui", "examples/typescript"] {
        let lock: Value =
            serde_json::from_str(&source::read(&format!("{folder}/package-lock.json"))).unwrap();
        let manifest: Value =
            serde_json::from_str(&source::read(&format!("{folder}/package.json"))).unwrap();
        let own = &lock["packages"][""];
        for kind in ["dependencies", "devDependencies"] {
            proof.check(
                format!("{folder}: {kind} are those that are locked"),
                own[kind] == manifest[kind],
            );
            for (name, version) in manifest[kind].as_object().into_iter().flatten() {
                let exact = version.as_str().unwrap().starts_with(|c: char| c.is_ascii_digit());
                proof.check(format!("{folder}: {name} is {version}"), exact);
                proof.check(format!("{folder}: {name}"), name != "codemirror");
            }
        }
        for (path, package) in lock["packages"].as_object().unwrap() {
            if path.is_empty() {
                continue;
            }
            if !is_for_here(package) {
                continue;
            }
            count += 1;
            let by_content =
                package["integrity"].as_str().is_some_and(|it| it.starts_with("sha512-"));
            let from = package["resolved"].as_str().unwrap_or("https://registry.npmjs.org/");
            let fits = by_content && from.starts_with("https://registry.npmjs.org/");
            proof.check(format!("{folder}: {path} from {from}"), fits);
        }
    }
    let dev = source::read("dev");
    for line in
        dev.lines().filter(|line| line.trim_start().starts_with("npm") && line.contains(" ci "))
    {
        proof.check(
            format!("packages run no scripts when they are put in place: {line}"),
            line.contains("--ignore-scripts"),
        );
    }
    let installs = |line: &&str| line.contains("cargo install");
    for line in dev.lines().filter(installs) {
        proof.check(
            format!("tools are built as they are locked: {line}"),
            line.contains("--locked"),
        );
    }
    proof.check(
        "no package is put in place but as it is locked",
        !dev.contains("npm install") && !dev.contains(" npm i "),
    );
    proof.check("the lock file is checked", dev.contains("--locked --format-version"));
    count
}

#[test]
fn supply_chain() {
    let mut proof = Proof::new(
        19,
        "supply-chain",
        "what is built is what is locked: known versions, known sources and licences, no build script that downloads, no \
         unsafe code of ours",
    )
    .how("Cargo.lock, package-lock.json, every manifest, every build script of what is built here, every line of ours");
    versions(&mut proof);
    let scripts = packages(&mut proof);
    let files = our_code(&mut proof);
    let node = node(&mut proof);
    let (crates, faults) = (locked().len(), proof.failed());
    proof.close(format!(
        "{crates} crates, {node} node packages, {scripts} build scripts, {files} files of ours: {faults} faults"
    ));
}
