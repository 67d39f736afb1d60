//! Declares the window's one command, and carries the built console into the program.

fn main() {
    // Cargo does not see by itself that the pages inside the program have changed.
    println!("cargo::rerun-if-changed=../ui/dist");
    println!("cargo::rerun-if-changed=../icons");
    if !std::path::Path::new("../ui/dist/index.html").exists() {
        println!("cargo::error=the console is not built yet: ./dev run builds everything in order");
        return;
    }
    let commands = tauri_build::AppManifest::new().commands(&["console"]);
    if let Err(error) =
        tauri_build::try_build(tauri_build::Attributes::new().app_manifest(commands))
    {
        println!("cargo::error={error:#}");
    }
}
