//! Whether a case can be put on hosts as its file says.

use windtunnel_core::json::Path;

use super::definition::AgentTool;
use super::hosts::{AGENT, JOURNAL, MODEL};
use crate::case::build::Refusal;

/// What the file says of hosts, and of what there cannot be there.
pub(super) struct Arrangement {
    pub(super) on_hosts: bool,
    pub(super) has_crashes: bool,
    pub(super) has_crash_rate: bool,
    pub(super) has_restart: bool,
    pub(super) has_schedule: bool,
}

impl Arrangement {
    pub(super) fn check(&self, tools: &[AgentTool], root: &Path) -> Result<(), Refusal> {
        let refuse = |path: Path, problem: &str| Err(Refusal::new(path, problem));
        let at = |name: &str| root.clone().member(name);
        for (index, tool) in tools.iter().enumerate() {
            let Some(host) = &tool.manners.host else { continue };
            let path = at("tools").element(index).member("host");
            if !self.on_hosts {
                return refuse(path, "nothing of this case runs on hosts; say on_hosts = true, or remove it");
            }
            let is_agent = host == AGENT || host.strip_prefix(AGENT).is_some_and(|rest| rest.starts_with('-'));
            if is_agent || host == JOURNAL || host == MODEL {
                return Err(Refusal::new(
                    path,
                    format!("the host {host:?} is not one of tools; give this one another"),
                ));
            }
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '.';
            if host.is_empty() || host.len() > 63 || !host.chars().all(is_letter) {
                return refuse(path, "the name of a host has 1 to 63 letters, digits, hyphens and dots");
            }
        }
        let instead = "on hosts, workers crash by faults; plan a host.crash in faults, or draw it in random_faults";
        match self {
            Self { on_hosts: true, has_crashes: true, .. } => refuse(at("crashes"), instead),
            Self { on_hosts: true, has_crash_rate: true, .. } => refuse(at("crash_rate"), instead),
            Self { on_hosts: true, has_restart: true, .. } => refuse(
                at("workers").member("restart_after_s"),
                "on hosts, the fault says when a worker is there again; remove it",
            ),
            Self { on_hosts: false, has_schedule: true, .. } => {
                refuse(at("schedule"), "only tasks on hosts have an order; say on_hosts = true, or remove it")
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::case::{Case, Format};

    #[track_caller]
    fn check_refused(fields: &str, message: &str) {
        let tools = if fields.contains("\"tools\"") { "" } else { r#", "tools": [{"name": "pay"}]"# };
        let text = format!(r#"{{"model": {{"turns": [{{"says": "x"}}]}}{tools}, {fields}}}"#);
        let error = Case::parse("f", Format::Json, &text).unwrap_err().to_string();
        let (_, told) = error.split_once(": ").unwrap();
        assert_eq!(told, message, "{error}");
    }

    #[test]
    fn what_cannot_be_on_hosts_is_refused_with_its_place() {
        let instead = "on hosts, workers crash by faults; plan a host.crash in faults, or draw it in random_faults";
        check_refused(r#""on_hosts": true, "crash_rate": 0.5"#, &format!("$.crash_rate: {instead}"));
        check_refused(r#""on_hosts": true, "crashes": [{"at": "after-effect"}]"#, &format!("$.crashes: {instead}"));
        check_refused(
            r#""on_hosts": true, "workers": {"restart_after_s": 2}"#,
            "$.workers.restart_after_s: on hosts, the fault says when a worker is there again; remove it",
        );
        check_refused(
            r#""schedule": "arrival""#,
            "$.schedule: only tasks on hosts have an order; say on_hosts = true, or remove it",
        );
        check_refused(
            r#""tools": [{"name": "pay", "host": "bank"}]"#,
            "$.tools[0].host: nothing of this case runs on hosts; say on_hosts = true, or remove it",
        );
        for name in ["agent", "agent-2", "model", "journal"] {
            check_refused(
                &format!(r#""on_hosts": true, "tools": [{{"name": "pay", "host": "{name}"}}]"#),
                &format!("$.tools[0].host: the host {name:?} is not one of tools; give this one another"),
            );
        }
        check_refused(
            r#""on_hosts": true, "tools": [{"name": "pay", "host": "a b"}]"#,
            "$.tools[0].host: the name of a host has 1 to 63 letters, digits, hyphens and dots",
        );
    }
}
