//! The pages in a browser: every chart is drawn and can be read, in light and dark, on wide and
//! narrow screens, and the console stays silent.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::tests::{all_kinds, all_of_a_trace};

/// What the page says of itself: see `browser.js`.
#[derive(Debug, Deserialize)]
struct Verdict {
    width: u32,
    dark: bool,
    /// Charts that were looked at.
    charts: usize,
    /// Colour of the page and of the first line or bar.
    page: String,
    line: String,
    wrong: Vec<String>,
}

/// Whether a browser is there; says so if it is not. Where CI is set it has to be.
fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let names = ["chromium-headless-shell", "chromium", "google-chrome"];
    let mut programs = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = programs.find(|program| program.is_file());
    if found.is_none() {
        let missing = "no Chromium is installed (apt-get install chromium-headless-shell, or \
                       tools/setup servers)";
        assert!(std::env::var_os("CI").is_none(), "CI is set, and {missing}");
        eprintln!("SKIPPED: {missing}");
    }
    found
}

/// Opens a page of this width, and has it look at itself.
fn open(browser: &Path, page: &str, width: u32, dark: bool) -> Verdict {
    let folder = tempfile::tempdir().expect("a folder");
    let script = format!("<script>{}</script></body>", include_str!("browser.js"));
    let path = folder.path().join("page.html");
    fs::write(&path, page.replace("</body>", &script)).expect("written");
    let scheme = if dark { 0 } else { 1 };
    let output = Command::new(browser)
        // A container has no name spaces for the sandbox; the page is this test's own.
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ])
        .args([
            "--enable-logging=stderr",
            "--virtual-time-budget=3000",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        ))
        .arg(format!("--window-size={width},900"))
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("file://{}", path.display()))
        .output()
        .expect("a browser that starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let console: Vec<_> = said
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect();
    assert_eq!(console, Vec::<&str>::new(), "{width} pixels");
    let dom = String::from_utf8_lossy(&output.stdout);
    let verdict = dom
        .split_once("<pre id=\"verdict\">")
        .and_then(|(_, rest)| {
            Some(
                rest.split_once("</pre>")?
                    .0
                    .replace("&amp;", "&")
                    .replace("&gt;", ">"),
            )
        });
    let verdict = verdict.unwrap_or_else(|| panic!("no verdict: {said}\n{dom}"));
    serde_json::from_str(&verdict).expect("JSON")
}

#[test]
fn every_chart_can_be_read_in_a_browser() {
    let Some(browser) = browser() else { return };
    let pages = [
        (all_kinds(), "measurements"),
        (all_of_a_trace(), "trace"),
        (super::heat::tests::page(), "sweep"),
    ];
    for (page, name) in pages {
        let charts = page.matches("<figure").count();
        for width in [1400, 400] {
            let [light, dark] = [false, true].map(|dark| open(&browser, &page, width, dark));
            for verdict in [&light, &dark] {
                let Verdict { wrong, .. } = verdict;
                assert!(wrong.is_empty(), "{name}, {width} pixels: {wrong:#?}");
                assert_eq!((verdict.width, verdict.charts), (width, charts), "{name}");
            }
            assert_eq!((light.dark, dark.dark), (false, true));
            assert_ne!(light.page, dark.page, "the page's colour");
            assert_ne!(light.line, dark.line, "a line's colour");
        }
    }
}
