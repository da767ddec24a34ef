// A compiler as a compiler_gym environment, in Rust without a crate: it speaks the session
// protocol over the descriptor, the standard streams or the socket that it is told.

use std::env;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::FromRawFd;
use std::os::unix::net::UnixStream;
use std::process::exit;

// ---- Values, and how they become msgpack.

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

use Value::{Bool, Bytes, Float, Int, List, Map, Nil, Text};

/// What a request fails with: the name of a class of errors, and what to say.
struct Failure(&'static str, String);

type Outcome<T> = Result<T, Failure>;

fn malformed<T>(said: &str) -> Outcome<T> {
    Err(Failure("ServiceTransportError", said.to_string()))
}

fn text(value: &str) -> Value {
    Text(value.to_string())
}

fn map(fields: &[(&str, Value)]) -> Value {
    Map(fields.iter().map(|(key, value)| (key.to_string(), value.clone())).collect())
}

impl Value {
    fn write(&self, to: &mut Vec<u8>) {
        let mut head = |code: u8, size: usize| {
            to.push(code);
            to.extend((size as u32).to_be_bytes());
        };
        match self {
            Nil => to.push(0xc0),
            Bool(is_on) => to.push(if *is_on { 0xc3 } else { 0xc2 }),
            Int(number) => {
                to.push(0xd3);
                to.extend(number.to_be_bytes());
            }
            Float(number) => {
                to.push(0xcb);
                to.extend(number.to_be_bytes());
            }
            Text(text) => {
                head(0xdb, text.len());
                to.extend(text.as_bytes());
            }
            Bytes(bytes) => {
                head(0xc6, bytes.len());
                to.extend(bytes);
            }
            List(items) => {
                head(0xdd, items.len());
                items.iter().for_each(|item| item.write(to));
            }
            Map(items) => {
                head(0xdf, items.len());
                for (key, item) in items {
                    text(key).write(to);
                    item.write(to);
                }
            }
        }
    }

    fn int(&self) -> Outcome<i64> {
        if let Int(number) = self { Ok(*number) } else { malformed("expected a number") }
    }

    fn str(&self) -> Outcome<&str> {
        if let Text(text) = self { Ok(text) } else { malformed("expected a text") }
    }

    fn list(&self) -> Outcome<&[Value]> {
        if let List(items) = self { Ok(items) } else { malformed("expected a list") }
    }
}

struct Reader<'a> {
    data: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, size: usize) -> Outcome<&'a [u8]> {
        if self.data.len() < size {
            return malformed("the message ends too early");
        }
        let (taken, rest) = self.data.split_at(size);
        self.data = rest;
        Ok(taken)
    }

    fn number(&mut self, size: usize) -> Outcome<u64> {
        Ok(self.take(size)?.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    fn text(&mut self, size: u64) -> Outcome<Value> {
        match std::str::from_utf8(self.take(size as usize)?) {
            Ok(found) => Ok(text(found)),
            Err(_) => malformed("a text is not UTF-8"),
        }
    }

    fn list(&mut self, size: u64, depth: u32) -> Outcome<Value> {
        let mut items = Vec::new(); // no room is reserved: a length may lie
        for _ in 0..size {
            items.push(self.value(depth + 1)?);
        }
        Ok(List(items))
    }

    fn map(&mut self, size: u64, depth: u32) -> Outcome<Value> {
        let mut items = Vec::new();
        for _ in 0..size {
            let key = self.value(depth + 1)?.str()?.to_string();
            items.push((key, self.value(depth + 1)?));
        }
        Ok(Map(items))
    }

    fn value(&mut self, depth: u32) -> Outcome<Value> {
        if depth > 64 {
            return malformed("the message is nested too deeply");
        }
        let code = self.number(1)? as u8;
        let width = |first: u8| 1usize << (code - first);
        Ok(match code {
            0x00..=0x7f | 0xe0..=0xff => Int(i64::from(code as i8)),
            0x80..=0x8f => self.map(u64::from(code & 15), depth)?,
            0x90..=0x9f => self.list(u64::from(code & 15), depth)?,
            0xa0..=0xbf => self.text(u64::from(code & 31))?,
            0xc0 => Nil,
            0xc2 | 0xc3 => Bool(code == 0xc3),
            0xc4..=0xc6 => {
                let size = self.number(width(0xc4))?;
                Bytes(self.take(size as usize)?.to_vec())
            }
            0xca => Float(f64::from(f32::from_bits(self.number(4)? as u32))),
            0xcb => Float(f64::from_bits(self.number(8)?)),
            0xcc..=0xcf => Int(self.number(width(0xcc))? as i64),
            0xd0..=0xd3 => {
                let left = 64 - 8 * width(0xd0) as u32; // the sign is that of the first byte
                Int(((self.number(width(0xd0))? << left) as i64) >> left)
            }
            0xd9..=0xdb => {
                let size = self.number(width(0xd9))?;
                self.text(size)?
            }
            0xdc | 0xdd => {
                let size = self.number(2 * width(0xdc))?;
                self.list(size, depth)?
            }
            0xde | 0xdf => {
                let size = self.number(2 * width(0xde))?;
                self.map(size, depth)?
            }
            _ => return malformed("the message has a type that is none of ours"),
        })
    }
}

// ---- The compiler.

#[derive(Clone, Debug, PartialEq)]
enum Op {
    Add(i64),
    Move(i64),
    Print,
    Clear,
    Loop(Vec<Op>),
}

const PASSES: [(&str, fn(Vec<Op>) -> Vec<Op>); 3] =
    [("merge", merge), ("clear", clear), ("dead", dead)];
const MOST_STEPS: i64 = 1_000_000;

fn parse(source: &mut std::str::Chars, depth: u32) -> Outcome<Vec<Op>> {
    let bad = |said: &str| Err(Failure("BenchmarkInitError", said.to_string()));
    let mut ops = Vec::new();
    while let Some(c) = source.next() {
        match c {
            '+' => ops.push(Op::Add(1)),
            '-' => ops.push(Op::Add(-1)),
            '>' => ops.push(Op::Move(1)),
            '<' => ops.push(Op::Move(-1)),
            '.' => ops.push(Op::Print),
            '[' if depth < 500 => ops.push(Op::Loop(parse(source, depth + 1)?)),
            ']' if depth > 0 => return Ok(ops),
            _ if c.is_whitespace() => {}
            _ => return bad(&format!("expected one of +-<>.[] in pairs, found {c:?}")),
        }
    }
    if depth == 0 { Ok(ops) } else { bad("a [ has no ]") }
}

/// Apply `pass` to the bodies of loops.
fn inside(ops: Vec<Op>, pass: fn(Vec<Op>) -> Vec<Op>) -> impl Iterator<Item = Op> {
    ops.into_iter().map(move |op| match op {
        Op::Loop(body) => Op::Loop(pass(body)),
        other => other,
    })
}

/// Join what follows each other, and drop what adds up to nothing.
fn merge(ops: Vec<Op>) -> Vec<Op> {
    let mut made: Vec<Op> = Vec::new();
    for op in inside(ops, merge) {
        match (made.last_mut(), &op) {
            (Some(Op::Add(sum)), Op::Add(more)) | (Some(Op::Move(sum)), Op::Move(more)) => {
                *sum += more;
                if *sum == 0 {
                    made.pop();
                }
            }
            _ => made.push(op),
        }
    }
    made
}

/// Say that a loop that counts down to nothing clears its cell.
fn clear(ops: Vec<Op>) -> Vec<Op> {
    let clears = |op| if op == Op::Loop(vec![Op::Add(-1)]) { Op::Clear } else { op };
    inside(ops, clear).map(clears).collect()
}

/// Drop what is overwritten, and loops that never begin.
fn dead(ops: Vec<Op>) -> Vec<Op> {
    let mut made: Vec<Op> = Vec::new();
    for op in inside(ops, dead) {
        if op == Op::Clear {
            while matches!(made.last(), Some(Op::Add(_) | Op::Clear)) {
                made.pop();
            }
        }
        let is_skipped = matches!(op, Op::Loop(_))
            && matches!(made.last(), Some(Op::Clear | Op::Loop(_)));
        if !is_skipped {
            made.push(op);
        }
    }
    made
}

fn size(ops: &[Op]) -> i64 {
    ops.iter().map(|op| if let Op::Loop(body) = op { 2 + size(body) } else { 1 }).sum()
}

fn print(ops: &[Op], to: &mut String) {
    for op in ops {
        match op {
            Op::Add(number) => to.push_str(&format!("add {number}\n")),
            Op::Move(number) => to.push_str(&format!("move {number}\n")),
            Op::Print => to.push_str("print\n"),
            Op::Clear => to.push_str("clear\n"),
            Op::Loop(body) => {
                to.push_str("loop\n");
                print(body, to);
                to.push_str("end\n");
            }
        }
    }
}

struct Machine {
    tape: Vec<i64>,
    at: usize,
    steps: i64,
    printed: String,
}

impl Machine {
    fn run(ops: &[Op]) -> Outcome<Machine> {
        let mut machine = Machine { tape: vec![0; 1 << 12], at: 0, steps: 0, printed: String::new() };
        machine.go(ops)?;
        Ok(machine)
    }

    fn go(&mut self, ops: &[Op]) -> Outcome<()> {
        for op in ops {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Err(Failure("ObservationError", format!("more than {MOST_STEPS} steps")));
            }
            let size = self.tape.len() as i64;
            match op {
                Op::Add(number) => self.tape[self.at] = (self.tape[self.at] + number) & 255,
                Op::Move(number) => self.at = (self.at as i64 + number).rem_euclid(size) as usize,
                Op::Print => self.printed.push(self.tape[self.at] as u8 as char),
                Op::Clear => self.tape[self.at] = 0,
                Op::Loop(body) => {
                    while self.tape[self.at] != 0 {
                        self.steps += 1;
                        self.go(body)?;
                    }
                }
            }
        }
        Ok(())
    }
}

// ---- The session.

fn describe() -> Value {
    let names = List(PASSES.iter().map(|(name, _)| text(name)).collect());
    let number = map(&[("type", text("scalar")), ("low", Int(0)), ("dtype", text("int"))]);
    let written = map(&[("type", text("text"))]);
    let observation = |name, space: &Value, said, default| {
        map(&[
            ("name", text(name)),
            ("space", space.clone()),
            ("description", text(said)),
            ("default", default),
        ])
    };
    let actions = map(&[("type", text("named_discrete")), ("items", names)]);
    List(vec![
        Int(17),
        Int(1),
        text(concat!("tape ", env!("CARGO_PKG_VERSION"))),
        List(vec![map(&[("name", text("Passes")), ("space", actions)])]),
        List(vec![
            observation("Ir", &written, "The program.", text("")),
            observation("Output", &written, "What it prints.", text("")),
            observation("Size", &number, "Its instructions.", Int(0)),
            observation("Steps", &number, "How many of them it runs.", Int(0)),
        ]),
        List(vec![]),
    ])
}

fn observe(ops: &[Op], names: &Value) -> Outcome<Value> {
    let mut values = Vec::new();
    for name in names.list()? {
        values.push(match name.str()? {
            "Ir" => {
                let mut shown = String::new();
                print(ops, &mut shown);
                Text(shown)
            }
            "Output" => Text(Machine::run(ops)?.printed),
            "Size" => Int(size(ops)),
            "Steps" => Int(Machine::run(ops)?.steps),
            other => return Err(Failure("UnknownNameError", format!("no observation {other:?}"))),
        });
    }
    Ok(List(values))
}

#[derive(Default)]
struct Service {
    program: Option<Vec<Op>>,
    applied: i64,
    has_touched: bool,
}

impl Service {
    fn reply(&mut self, frame: &[u8]) -> Value {
        (self.applied, self.has_touched) = (0, false);
        self.answer(frame).unwrap_or_else(|Failure(kind, said)| {
            if self.has_touched {
                self.program = None;
            }
            List(vec![Int(23), text(kind), Text(said), Int(self.applied), Bool(!self.has_touched)])
        })
    }

    fn answer(&mut self, frame: &[u8]) -> Outcome<Value> {
        let message = Reader { data: frame }.value(0)?;
        let fields = message.list()?;
        let field = |i: usize| match fields.get(i) {
            Some(value) => Ok(value),
            None => malformed("the message has too few fields"),
        };
        match field(0)?.int()? {
            1 => self.start(field(1)?, field(2)?, field(3)?),
            2 => self.step(field(1)?, field(2)?),
            4 => {
                self.running()?;
                (field(1)?.str()?, field(2)?.str()?);
                Ok(List(vec![Int(21), Nil]))
            }
            5 => {
                self.program = None;
                Ok(List(vec![Int(22)]))
            }
            6 => {
                let seen = observe(self.running()?, field(1)?)?;
                Ok(List(vec![Int(18), Nil, seen]))
            }
            7 if field(1)?.list()?.contains(&Int(1)) => Ok(describe()),
            7 => Err(Failure("EnvironmentNotSupported", "expected version 1".to_string())),
            _ => malformed("there is no request of that tag"),
        }
    }

    fn start(&mut self, program: &Value, space: &Value, names: &Value) -> Outcome<Value> {
        let Map(fields) = program else { return malformed("expected a program") };
        let contents = match fields.iter().find(|(key, _)| key == "contents") {
            Some((_, Bytes(contents))) => contents,
            _ => return malformed("expected the contents of the program"),
        };
        if *space != Nil && space.str()? != "Passes" {
            return Err(Failure("UnknownNameError", format!("no action space {space:?}")));
        }
        names.list()?;
        self.has_touched = true;
        let source = String::from_utf8_lossy(contents);
        let ops = parse(&mut source.chars(), 0)?;
        let seen = observe(&ops, names)?;
        self.program = Some(ops);
        Ok(List(vec![Int(18), Nil, seen]))
    }

    fn step(&mut self, actions: &Value, names: &Value) -> Outcome<Value> {
        let before = self.running()?.clone();
        let mut ops = before.clone();
        names.list()?;
        for action in actions.list()? {
            let pass = match action {
                Int(number) => PASSES.get(*number as usize),
                _ => None,
            };
            let Some((_, pass)) = pass else {
                let said = format!("expected an action in [0, {}), found {action:?}", PASSES.len());
                return Err(Failure("InvalidActionError", said));
            };
            ops = pass(ops);
            self.applied += 1;
            self.program = Some(ops.clone());
        }
        let (seen, failure) = match observe(&ops, names) {
            Ok(seen) => (seen, Nil),
            Err(Failure(kind, said)) => (List(vec![]), List(vec![text(kind), Text(said)])),
        };
        let no_effect = Bool(ops == before);
        Ok(List(vec![Int(19), Bool(false), Nil, no_effect, seen, Int(self.applied), failure]))
    }

    fn running(&self) -> Outcome<&Vec<Op>> {
        match &self.program {
            Some(ops) => Ok(ops),
            None => Err(Failure("SessionNotFound", "no episode is running".to_string())),
        }
    }
}

fn serve(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    let mut service = Service::default();
    loop {
        let mut length = [0; 8];
        input.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        if length > 1 << 30 {
            return Err(io::Error::other(format!("a frame of {length} bytes")));
        }
        let mut frame = Vec::new(); // no room is reserved: a length may lie
        if (&mut input).take(length).read_to_end(&mut frame)? < length as usize {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        let mut reply = vec![0; 8];
        service.reply(&frame).write(&mut reply);
        let length = (reply.len() - 8) as u64;
        reply[..8].copy_from_slice(&length.to_le_bytes());
        output.write_all(&reply)?;
        output.flush()?;
    }
}

fn main() {
    let place = env::var("COMPILER_GYM_SESSION").unwrap_or_default();
    let ended = if place == "stdio" {
        serve(io::stdin().lock(), io::stdout().lock())
    } else if let Some(number) = place.strip_prefix("fd:").and_then(|number| number.parse().ok()) {
        // SAFETY: the number is that of a socket which is ours alone.
        let socket = unsafe { File::from_raw_fd(number) };
        serve(&socket, &socket)
    } else if let Some(path) = place.strip_prefix("unix:") {
        UnixStream::connect(path).and_then(|socket| serve(&socket, &socket))
    } else {
        eprintln!("expected COMPILER_GYM_SESSION: have compiler_gym start this program");
        exit(2)
    };
    match ended {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
            eprintln!("{error}");
            exit(1)
        }
        _ => exit(0),
    }
}
