//! The stand-in service: HTTP/1.1 with connections that are kept, without any library that the clients or the proxy use.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use crate::answer::Answer;
use crate::scene;

/// A service that lives as long as the test's process.
pub(crate) struct Upstream {
    pub(crate) url: String,
    log: Arc<Log>,
}

#[derive(Default)]
struct Log {
    exchanges: Mutex<Vec<Exchanged>>,
    grown: Condvar,
}

/// A request that came, and what it was answered.
#[derive(Clone)]
pub(crate) struct Exchanged {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) request: Vec<u8>,
    pub(crate) status: u16,
    pub(crate) response: Vec<u8>,
    pub(crate) is_cut: bool,
}

impl Upstream {
    #[expect(
        clippy::disallowed_methods,
        reason = "the service is no part of what is tested, and ends with the process"
    )]
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::new(Log::default());
        let shared = Arc::clone(&log);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let log = Arc::clone(&shared);
                // How a connection ends is its client's business.
                thread::spawn(move || drop(converse(stream, &log)));
            }
        });
        Self { url, log }
    }

    /// All that came so far, in order.
    pub(crate) fn exchanges(&self) -> Vec<Exchanged> {
        self.log.exchanges.lock().unwrap().clone()
    }
}

fn converse(mut stream: TcpStream, log: &Log) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let Some((method, target, headers)) = head(&mut reader)? else { return Ok(()) };
        let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        let mut request = vec![0; length];
        reader.read_exact(&mut request)?;
        let path = target.split('?').next().unwrap_or_default().to_owned();
        let answer = log.answer(method, path, headers, request);
        answer.send(&mut stream)?;
        if answer.is_cut {
            return Ok(());
        }
    }
}

impl Log {
    /// Notes a request, and says what it is answered. Requests of a scene that asks for several at once are answered when
    /// all of them have come.
    fn answer(&self, method: String, path: String, headers: BTreeMap<String, String>, request: Vec<u8>) -> Answer {
        let mut exchanges = self.exchanges.lock().unwrap();
        let is_same = |before: &&Exchanged| before.path == path && before.request == request;
        let repeat = exchanges.iter().filter(is_same).count();
        let text = String::from_utf8_lossy(&request).into_owned();
        let answer = scene::answer(&path, &text, repeat);
        let (status, response, is_cut) = (answer.status, answer.body(), answer.is_cut);
        let at_once = |before: &&Exchanged| before.path == path && scene::is_at_once(&before.request);
        let exchanged = Exchanged { method, path: path.clone(), headers, request, status, response, is_cut };
        let must_wait = scene::is_at_once(&exchanged.request);
        exchanges.push(exchanged);
        self.grown.notify_all();
        let is_missing = |exchanges: &mut Vec<Exchanged>| exchanges.iter().filter(at_once).count() < scene::AT_ONCE;
        if must_wait {
            drop(self.grown.wait_while(exchanges, is_missing).unwrap());
        }
        answer
    }
}

type Head = (String, String, BTreeMap<String, String>);

/// The head of the next request; `None` if none comes any more.
fn head(reader: &mut impl BufRead) -> io::Result<Option<Head>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split(' ').map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => drop(headers.insert(name.to_ascii_lowercase(), value.trim().to_owned())),
            None => return Ok(Some((method, target, headers))),
        }
    }
}
