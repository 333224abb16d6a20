//! The outside world: a process that answers each effect with a number that it never gives again, and remembers all.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};

pub(crate) const ROLE: &str = "effects";

/// A line of the process's memory, in the order in which they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// An effect happened under this idempotency key, and was answered with this number.
    Effect { key: String, operation: String, answer: u64 },
    /// A workflow was given this result of an operation: its commit was acknowledged.
    Released { workflow_id: String, activation_id: String, operation: String, answer: u64 },
}

/// Serves until it is killed.
pub(crate) fn serve() -> ExitCode {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    let memory = Arc::new(Mutex::new(Vec::new()));
    for stream in listener.incoming() {
        let memory = Arc::clone(&memory);
        // A client may be killed in the middle of a line.
        let _client = std::thread::Builder::new().spawn(move || answer(stream.unwrap(), &memory)).unwrap();
    }
    ExitCode::SUCCESS
}

fn answer(stream: TcpStream, memory: &Mutex<Vec<String>>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut writer = stream.try_clone()?;
    for line in BufReader::new(stream).lines() {
        let line = line?;
        if line == "report" {
            let all = memory.lock().unwrap().join("\n");
            writer.write_all(format!("{all}\nend\n").as_bytes())?;
            continue;
        }
        let answer = {
            let mut memory = memory.lock().unwrap();
            let answer = memory.len() + 1;
            memory.push(format!("{line} {answer}"));
            answer
        };
        writer.write_all(format!("{answer}\n").as_bytes())?;
    }
    Ok(())
}

/// A running process.
pub(crate) struct Effects {
    child: Child,
    pub(crate) port: u16,
}

impl Effects {
    pub(crate) fn spawn() -> Self {
        let program = std::env::current_exe().unwrap();
        let mut child = Command::new(program).arg(ROLE).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Self { child, port: port.trim().parse().unwrap() }
    }

    /// All that it remembers.
    pub(crate) fn report(&self) -> Vec<Line> {
        let mut client = Client::connect(self.port);
        client.stream.write_all(b"report\n").unwrap();
        let mut lines = Vec::new();
        loop {
            let line = client.read_line();
            match line.split(' ').collect::<Vec<_>>().as_slice() {
                ["end"] => return lines,
                [""] => {}
                ["effect", key, operation, answer] => lines.push(Line::Effect {
                    key: (*key).to_owned(),
                    operation: (*operation).to_owned(),
                    answer: answer.parse().unwrap(),
                }),
                ["released", workflow_id, activation_id, operation, answer, _] => lines.push(Line::Released {
                    workflow_id: (*workflow_id).to_owned(),
                    activation_id: (*activation_id).to_owned(),
                    operation: (*operation).to_owned(),
                    answer: answer.parse().unwrap(),
                }),
                other => panic!("{other:?} is no line"),
            }
        }
    }
}

impl Drop for Effects {
    fn drop(&mut self) {
        // Its memory is of no use to anybody any more.
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// A worker's connection to it. Blocking: a worker that tells has told.
pub(crate) struct Client {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { reader: BufReader::new(stream.try_clone().unwrap()), stream }
    }

    fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Makes an effect happen.
    pub(crate) fn effect(&mut self, key: &str, operation: &str) -> u64 {
        self.tell(&format!("effect {key} {operation}"))
    }

    /// Says that a result was given to the workflow.
    pub(crate) fn released(&mut self, workflow_id: &str, activation_id: &str, operation: &str, answer: u64) {
        self.tell(&format!("released {workflow_id} {activation_id} {operation} {answer}"));
    }

    fn tell(&mut self, line: &str) -> u64 {
        self.stream.write_all(format!("{line}\n").as_bytes()).unwrap();
        self.read_line().parse().unwrap()
    }
}
