//! Reports in a real browser: Chromium without a window, driven over WebDriver. `install` gets it; where it is not installed
//! these trials are left out, unless `WINDTUNNEL_BROWSER=required`.
//!
//! `WINDTUNNEL_PICTURES=FOLDER` keeps pictures of the reports in a folder of the repository; `docs/timeline.png` is one of
//! them: `WINDTUNNEL_PICTURES=docs cargo test -p windtunnel-cli --test browser the_picture_of_the_documentation`.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod browser;
mod hostile;
mod keyboard;
mod large;
mod looks;
mod many;
mod page;
mod reports;
mod timeline;
mod wire;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Trial};

fn main() -> ExitCode {
    let trials = vec![
        trial("a_failing_run_shows_its_lanes_and_its_failure", timeline::a_failing_run),
        trial("the_line_that_repeats_a_run_is_copied", timeline::copying),
        trial("events_are_filtered_and_searched", timeline::filtering),
        trial("a_click_on_the_timeline_shows_an_events_data", timeline::clicking),
        trial("everything_can_be_done_with_the_keyboard", keyboard::everything),
        trial("everything_has_a_role_and_a_name", keyboard::names),
        trial("a_sweep_shows_each_failure_and_what_was_covered", many::a_sweep),
        trial("seeds_show_outcomes_distributions_and_the_slowest", many::seeds),
        trial("cases_are_listed_with_their_runs", many::cases),
        trial("a_server_shows_its_requests_and_what_is_left", many::a_server),
        trial("a_hundred_thousand_events_are_usable", large::a_hundred_thousand_events),
        trial("a_report_of_nothing_is_a_page", hostile::nothing),
        trial("hostile_names_are_text", hostile::names),
        trial("light_dark_and_narrow_pages_are_legible", looks::schemes),
        trial("the_picture_of_the_documentation_is_small", looks::picture),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial(name: &str, run: fn()) -> Trial {
    Trial::ignorable_test(name, move || {
        if browser::is_installed() {
            run();
            return Ok(Completion::Completed);
        }
        let missing = "Chromium is not installed: run cli/tests/browser/install";
        if std::env::var_os("WINDTUNNEL_BROWSER").is_some_and(|value| value == "required") {
            return Err(missing.into());
        }
        Ok(Completion::ignored_with(missing))
    })
}
