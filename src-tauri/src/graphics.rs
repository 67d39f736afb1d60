//! How WebKitGTK draws, where its own choice is a bad one.

const DMABUF_OFF: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";

/// Turns WebKit's DMA-BUF renderer off where it does harm: with NVIDIA's driver the window stays blank,
/// and without a graphics card it draws a quarter of the frames. That is said by an environment
/// variable. Only a new program image can be given one safely, so this one starts itself again, as
/// the same process. Whoever set the variable already is obeyed.
#[cfg(target_os = "linux")]
pub(crate) fn choose_renderer() {
    use std::os::unix::process::CommandExt;
    let nvidia = std::path::Path::new("/proc/driver/nvidia/version").exists();
    let no_card = !std::path::Path::new("/dev/dri").exists();
    if !(nvidia || no_card) || std::env::var_os(DMABUF_OFF).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let error = std::process::Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(DMABUF_OFF, "1")
        .exec();
    eprintln!("switchboard: the window may be blank or slow; set {DMABUF_OFF}=1 ({error})");
}

/// Elsewhere there is nothing to choose.
#[cfg(not(target_os = "linux"))]
pub(crate) fn choose_renderer() {}
