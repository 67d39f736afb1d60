//! One known fault of WebKitGTK, avoided.

const DMABUF_OFF: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";

/// With NVIDIA's driver the window stays blank unless WebKit's DMA-BUF renderer is off, and that is
/// said by an environment variable. Only a new program image can be given one safely, so this one
/// starts itself again, as the same process. Whoever set the variable already is obeyed.
#[cfg(target_os = "linux")]
pub(crate) fn avoid_the_blank_window() {
    use std::os::unix::process::CommandExt;
    let nvidia = std::path::Path::new("/proc/driver/nvidia/version").exists();
    if !nvidia || std::env::var_os(DMABUF_OFF).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let error = std::process::Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(DMABUF_OFF, "1")
        .exec();
    eprintln!("switchboard: the window may stay blank; set {DMABUF_OFF}=1 ({error})");
}

/// Elsewhere there is nothing to avoid.
#[cfg(not(target_os = "linux"))]
pub(crate) fn avoid_the_blank_window() {}
