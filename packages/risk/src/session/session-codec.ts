import { ByteReader } from '../codec/byte-reader.ts';
import { ByteWriter } from '../codec/byte-writer.ts';
import { EventLog, type LogEntry } from './event-log.ts';
import { MARKS_WITH_ID, type Tally } from './mark.ts';
import { noteOf, type OriginNote, shortIdOf } from './origin-note.ts';
import { RepeatSketch } from './repeat-sketch.ts';
import { emptySession, KEPT, type SessionState } from './session-state.ts';
import { TimeHistogram } from './time-histogram.ts';

const FORMAT = 1;

function writeTallies(
  out: ByteWriter,
  tallies: readonly Tally[],
  baseMs: number,
  withId: (index: number) => boolean,
) {
  const used = tallies.flatMap((tally, index) => (tally.count > 0 ? [[tally, index] as const] : []));
  out.number(used.length);
  for (const [tally, index] of used) {
    out.number(index);
    out.number(tally.count);
    out.number(tally.firstMs - baseMs);
    out.number(tally.lastMs - tally.firstMs);
    if (withId(index)) out.eventId(tally.firstId);
  }
}

function readTallies(
  input: ByteReader,
  tallies: readonly Tally[],
  baseMs: number,
  withId: (index: number) => boolean,
) {
  for (let left = input.number(); left > 0; left--) {
    const index = input.number();
    const tally = tallies[index];
    if (tally === undefined)
      throw new RangeError(`risk state has the unknown tally ${index}; upgrade this package`);
    tally.count = input.number();
    tally.firstMs = baseMs + input.number();
    tally.lastMs = tally.firstMs + input.number();
    if (withId(index)) tally.firstId = input.eventId();
  }
}

function writeHistogram(out: ByteWriter, histogram: TimeHistogram): void {
  out.number(histogram.exponent);
  out.number(histogram.first);
  out.number(histogram.counts.length);
  for (const count of histogram.counts) out.number(count);
}

function readHistogram(input: ByteReader): TimeHistogram {
  const exponent = input.number();
  const first = input.number();
  return new TimeHistogram(
    exponent,
    first,
    Array.from({ length: input.number() }, () => input.number()),
  );
}

function writeEntry(out: ByteWriter, entry: LogEntry, baseMs: number): void {
  out.number(entry.timestampMs - baseMs);
  out.eventId(entry.eventId);
  out.word(entry.tool);
  out.word(entry.argument);
  out.number(entry.bits);
  out.number(entry.verb * 32 + entry.noun);
  out.number(entry.kind * 8 + entry.outcome);
  out.number(entry.stamp);
}

function readEntry(input: ByteReader, baseMs: number): LogEntry {
  const timestampMs = baseMs + input.number();
  const eventId = input.eventId();
  const tool = input.word();
  const argument = input.word();
  const bits = input.number();
  const words = input.number();
  const end = input.number();
  return {
    timestampMs,
    eventId,
    tool,
    argument,
    bits,
    verb: Math.floor(words / 32),
    noun: words % 32,
    kind: Math.floor(end / 8),
    outcome: end % 8,
    stamp: input.number(),
  };
}

/** Writes the origins, if there are any, at the end: a state without them is the same as before there were origins. */
function writeOrigins(out: ByteWriter, { origins, foreignActs }: SessionState, baseMs: number): void {
  if (origins.total === 0) return;
  out.number(origins.total);
  let beforeMs = baseMs;
  for (const notes of [origins.head, origins.tail]) {
    out.number(notes.length);
    for (const note of notes) {
      out.number(note.timestampMs - beforeMs);
      out.shortHash(shortIdOf(note));
      out.number(note.bits);
      beforeMs = note.timestampMs;
    }
  }
  out.number(foreignActs.count);
  if (foreignActs.count === 0) return;
  out.number(foreignActs.firstMs - baseMs);
  out.eventId(foreignActs.firstId);
}

function readOrigins(input: ByteReader, foreignActs: Tally, baseMs: number): EventLog<OriginNote> {
  if (input.atEnd) return new EventLog<OriginNote>([], [], 0, KEPT.lastOrigins);
  const total = input.number();
  let beforeMs = baseMs;
  const readNotes = () =>
    Array.from({ length: input.number() }, (): OriginNote => {
      beforeMs += input.number();
      const shortId = input.shortHash();
      return noteOf(shortId, beforeMs, input.number());
    });
  const head = readNotes();
  const tail = readNotes();
  foreignActs.count = input.number();
  if (foreignActs.count > 0) {
    foreignActs.firstMs = baseMs + input.number();
    foreignActs.firstId = input.eventId();
  }
  return new EventLog(head, tail, total, KEPT.lastOrigins);
}

const markHasId = (index: number) => index < MARKS_WITH_ID;
const always = () => true;

/** Serializes the state to a string of at most 4 KiB. Equal states give equal strings. */
export function serializeSession(state: SessionState): string {
  const out = new ByteWriter();
  const versions = state.versions.entries();
  const times = [...state.marks, ...state.stamps]
    .filter((tally) => tally.count > 0)
    .map((tally) => tally.firstMs);
  const baseMs = Math.min(
    ...times,
    ...versions.map(([, version]) => version.firstMs),
    ...state.origins.head.slice(0, 1).map(({ timestampMs }) => timestampMs),
    Number.MAX_SAFE_INTEGER,
  );
  out.number(FORMAT);
  out.word(state.session);
  out.number(state.eventCount);
  out.number(baseMs);
  writeTallies(out, state.marks, baseMs, markHasId);
  writeTallies(out, state.stamps, baseMs, always);
  const tools = state.tools.entries();
  out.number(tools.length);
  for (const [hash, tool] of tools) {
    out.word(hash);
    out.text(tool.name);
    out.number(tool.bits);
    out.number(tool.verb * 32 + tool.noun);
    out.number(tool.count);
  }
  const agents = state.agents.entries();
  out.number(agents.length);
  for (const [hash, agent] of agents) {
    out.word(hash);
    out.number(agent.count);
    out.number(agent.failures);
  }
  const recipients = state.recipients.entries();
  out.number(recipients.length);
  for (const [hash] of recipients) out.word(hash);
  out.number(versions.length);
  for (const [hash, version] of versions) {
    out.word(hash);
    out.text(version.version);
    out.number(version.firstMs - baseMs);
    out.number(version.lastMs - version.firstMs);
  }
  out.number(state.log.total);
  for (const entries of [state.log.head, state.log.tail]) {
    out.number(entries.length);
    for (const entry of entries) writeEntry(out, entry, baseMs);
  }
  for (const cell of state.repeats.cells) out.number(cell);
  for (const histogram of [state.calls, state.losses, state.approvals]) writeHistogram(out, histogram);
  writeOrigins(out, state, baseMs);
  return out.toString();
}

/** Parses the output of {@link serializeSession}. Throws a `RangeError` for any other string. */
export function parseSession(text: string): SessionState {
  const input = new ByteReader(text);
  const format = input.number();
  if (format !== FORMAT) {
    throw new RangeError(
      `risk state has format ${format}, this version reads ${FORMAT}; recompute it from the events`,
    );
  }
  const empty = emptySession();
  const session = input.word();
  const eventCount = input.number();
  const baseMs = input.number();
  readTallies(input, empty.marks, baseMs, markHasId);
  readTallies(input, empty.stamps, baseMs, always);
  for (let left = input.number(); left > 0; left--) {
    const hash = input.word();
    const name = input.text();
    const bits = input.number();
    const words = input.number();
    const count = input.number();
    empty.tools.reach(hash, () => ({ name, bits, verb: Math.floor(words / 32), noun: words % 32, count }));
  }
  for (let left = input.number(); left > 0; left--) {
    const hash = input.word();
    const count = input.number();
    const failures = input.number();
    empty.agents.reach(hash, () => ({ count, failures }));
  }
  for (let left = input.number(); left > 0; left--) empty.recipients.reach(input.word(), () => true);
  for (let left = input.number(); left > 0; left--) {
    const hash = input.word();
    const version = input.text();
    const firstMs = baseMs + input.number();
    const lastMs = firstMs + input.number();
    empty.versions.reach(hash, () => ({ version, firstMs, lastMs }));
  }
  const total = input.number();
  const head = Array.from({ length: input.number() }, () => readEntry(input, baseMs));
  const tail = Array.from({ length: input.number() }, () => readEntry(input, baseMs));
  const repeats = new RepeatSketch(Array.from({ length: 32 }, () => input.number()));
  const [calls, losses, approvals] = [readHistogram(input), readHistogram(input), readHistogram(input)];
  const origins = readOrigins(input, empty.foreignActs, baseMs);
  return {
    ...empty,
    session,
    eventCount,
    origins,
    log: new EventLog(head, tail, total),
    repeats,
    calls,
    losses,
    approvals,
  };
}
