//! An engine of lanelock, through a queue of public keys.

use lanelock::Device;
use lanelock::Status;
use lanelock::public_key::{
    FlushPolicy, KeyDevice, KeyKind, KeyOp, KeyQueue, KeySession, KeyTransform, MlKem, PublicKey,
    SecretKey,
};

use super::{Contestant, Result};

pub struct Queue {
    device: Device,
    engine: &'static str,
    kind: KeyKind,
    batch: usize,
    queue: KeyQueue,
    public: Vec<u8>,
    sessions: Sessions,
    rooms: Vec<(Vec<u8>, Vec<u8>)>,
    ciphertext: Vec<u8>,
}

struct Sessions {
    generate: KeySession,
    encapsulate: KeySession,
    decapsulate: KeySession,
}

impl Queue {
    pub fn new(device: &Device, engine: &'static str, set: MlKem, batch: usize) -> Result<Self> {
        let kind = KeyKind::MlKem(set);
        let mut queue = device.key_queue(batch, FlushPolicy::default());
        let generate = device.key_session_on(engine, &KeyTransform::generate(kind))?;
        let (mut secret, mut public) = (vec![0; set.secret_len()], vec![0; set.public_len()]);
        let op = KeyOp::generate(&generate, &mut secret, &mut public);
        run(&mut queue, &mut [op])?;
        let (secret, key) = (
            SecretKey::raw(kind, &secret)?,
            PublicKey::raw(kind, &public)?,
        );
        let sessions = Sessions {
            generate,
            encapsulate: device.key_session_on(engine, &KeyTransform::encapsulate(&key))?,
            decapsulate: device.key_session_on(engine, &KeyTransform::decapsulate(&secret))?,
        };
        let longest = set.secret_len().max(set.ciphertext_len());
        let mut this = Self {
            device: device.clone(),
            engine,
            kind,
            batch,
            queue,
            public,
            sessions,
            rooms: vec![(vec![0; longest], vec![0; set.public_len()]); batch],
            ciphertext: Vec::new(),
        };
        let public = this.public.clone();
        this.ciphertext = this.encapsulate_to(&public)?.0;
        Ok(this)
    }
}

fn run(queue: &mut KeyQueue, ops: &mut [KeyOp<'_>]) -> Result<()> {
    if queue.process(ops).succeeded == ops.len() {
        return Ok(());
    }
    let failed = ops.iter().find(|op| op.status() != Status::Success);
    Err(format!("{:?}", failed.and_then(|op| op.error())).into())
}

impl Contestant for Queue {
    fn name(&self) -> String {
        match self.batch {
            1 => format!("lanelock {}", self.engine),
            batch => format!("lanelock {}, {batch} at a time", self.engine),
        }
    }

    fn batch(&self) -> usize {
        self.batch
    }

    fn public_key(&self) -> Vec<u8> {
        self.public.clone()
    }

    fn encapsulate_to(&mut self, public: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
        let key = PublicKey::raw(self.kind, public)?;
        let transform = KeyTransform::encapsulate(&key);
        let session = self.device.key_session_on(self.engine, &transform)?;
        let mut ciphertext = vec![0; session.output_len(0)];
        let mut secret = vec![0; session.second_output_len()];
        let op = KeyOp::encapsulate(&session, &mut ciphertext, &mut secret);
        run(&mut self.queue, &mut [op])?;
        Ok((ciphertext, secret))
    }

    fn decapsulate_one(&mut self, ciphertext: &[u8]) -> Result<Vec<u8>> {
        let mut secret = vec![0; 32];
        let op = KeyOp::decapsulate(&self.sessions.decapsulate, ciphertext, &mut secret);
        run(&mut self.queue, &mut [op])?;
        Ok(secret)
    }

    fn generate(&mut self) -> Result<()> {
        let session = &self.sessions.generate;
        let rooms = self.rooms.iter_mut();
        let ops = rooms.map(|(first, second)| KeyOp::generate(session, first, second));
        run(&mut self.queue, &mut ops.collect::<Vec<_>>())
    }

    fn encapsulate(&mut self) -> Result<()> {
        let session = &self.sessions.encapsulate;
        let rooms = self.rooms.iter_mut();
        let ops = rooms.map(|(first, second)| KeyOp::encapsulate(session, first, second));
        run(&mut self.queue, &mut ops.collect::<Vec<_>>())
    }

    fn decapsulate(&mut self) -> Result<()> {
        let (session, ciphertext) = (&self.sessions.decapsulate, &self.ciphertext);
        let rooms = self.rooms.iter_mut();
        let ops = rooms.map(|(first, _)| KeyOp::decapsulate(session, ciphertext, first));
        run(&mut self.queue, &mut ops.collect::<Vec<_>>())
    }
}
