import { ByteReader, ByteWriter } from '../codec/byte-reader.ts';
import type { ActionRecord } from './actions.ts';
import { type BottomK, PairExtremes } from './bottom-k.ts';
import { emptyTally, type Tally } from './mark.ts';
import { emptySession, Instants, type SessionState, type ToolTally } from './session-state.ts';

const formatVersion = 3;
const classes = 2 ** 32;

/** Writes the parts of a state, with times relative to the earliest one, and each event id and tool once. */
class StateWriter {
  readonly out = new ByteWriter();
  readonly #ids = new Map<string, number>();
  readonly #tools = new Map<number, number>();
  readonly #baseMs: number;

  constructor(baseMs: number) {
    this.#baseMs = baseMs;
  }

  time(timestampMs: number): void {
    this.out.number(timestampMs - this.#baseMs);
  }

  /** Writes a time; 0 means none. */
  optionalTime(timestampMs: number): void {
    this.out.number(timestampMs === 0 ? 0 : timestampMs - this.#baseMs + 1);
  }

  /** Writes an event id, or the number of one that was written before. */
  id(id: string): void {
    const known = this.#ids.get(id);
    this.out.number(known ?? 0);
    if (known !== undefined) return;
    this.#ids.set(id, this.#ids.size + 1);
    this.out.eventId(id);
  }

  tool(hash: number): void {
    const known = this.#tools.get(hash);
    this.out.number(known ?? 0);
    if (known !== undefined) return;
    this.#tools.set(hash, this.#tools.size + 1);
    this.out.word(hash);
  }

  tally(tally: Tally): void {
    this.out.number(tally.count * 2 + (tally.isMixed ? 1 : 0));
    if (tally.count === 0) return;
    this.time(tally.firstMs);
    this.id(tally.firstId);
    this.tool(tally.firstTool);
    if (tally.count === 1) return;
    this.out.number(tally.lastMs - tally.firstMs);
    this.id(tally.lastId);
    this.tool(tally.lastTool);
  }

  tallies(tallies: readonly Tally[]): void {
    const used = tallies.flatMap((tally, index) => (tally.count > 0 ? [[tally, index] as const] : []));
    this.out.number(used.length);
    for (const [tally, index] of used) {
      this.out.number(index);
      this.tally(tally);
    }
  }

  tools(tools: BottomK<ToolTally>): void {
    const entries = tools.entries();
    this.out.number(entries.length);
    for (const [hash, tool] of entries) {
      this.tool(hash);
      this.out.text(tool.name);
      this.out.number(tool.bits);
      this.out.number(tool.verb * 32 + tool.noun);
      this.out.number(tool.count);
      this.optionalTime(tool.firstSuccessMs);
      this.optionalTime(tool.lastSuccessMs);
      this.optionalTime(tool.firstRefusedMs);
      this.optionalTime(tool.lastFailedMs);
    }
  }

  action(key: number, record: ActionRecord): void {
    this.out.number(Math.floor(key / classes) * 2 + (record.stopped ? 1 : 0));
    this.out.word(key % classes);
    this.tool(record.tool);
    this.out.number(record.bits);
    this.out.number(record.rejected);
    for (const tally of [record.done, record.denied, record.refused, record.approved]) this.tally(tally);
  }

  extremes({ kept }: PairExtremes): void {
    this.out.number(kept.length);
    for (const { key, timestampMs, eventId, tool } of kept) {
      this.out.number(key);
      this.time(timestampMs);
      this.id(eventId);
      this.tool(tool);
    }
  }

  instants({ head, tail, total }: Instants): void {
    this.out.number(total);
    for (const times of [head, tail]) {
      this.out.number(times.length);
      for (const time of times) this.time(time);
    }
  }
}

/** Reads the output of {@link StateWriter} in the same order. */
class StateReader {
  readonly input: ByteReader;
  readonly #ids: string[] = [];
  readonly #tools: number[] = [];
  #baseMs = 0;

  constructor(input: ByteReader) {
    this.input = input;
  }

  base(): void {
    this.#baseMs = this.input.number();
  }

  time(): number {
    return this.#baseMs + this.input.number();
  }

  optionalTime(): number {
    const value = this.input.number();
    return value === 0 ? 0 : this.#baseMs + value - 1;
  }

  id(): string {
    const known = this.input.number();
    if (known > 0) return this.#known(this.#ids, known);
    const id = this.input.eventId();
    this.#ids.push(id);
    return id;
  }

  tool(): number {
    const known = this.input.number();
    if (known > 0) return this.#known(this.#tools, known);
    const hash = this.input.word();
    this.#tools.push(hash);
    return hash;
  }

  #known<Value>(values: readonly Value[], number: number): Value {
    const value = values[number - 1];
    if (value === undefined)
      throw new RangeError(
        'risk state refers to an unknown event; pass the unmodified string that was serialized',
      );
    return value;
  }

  tally(tally: Tally): Tally {
    const counted = this.input.number();
    tally.count = Math.floor(counted / 2);
    tally.isMixed = counted % 2 === 1;
    if (tally.count === 0) return tally;
    tally.firstMs = this.time();
    tally.firstId = this.id();
    tally.firstTool = this.tool();
    if (tally.count === 1) {
      tally.lastMs = tally.firstMs;
      tally.lastId = tally.firstId;
      tally.lastTool = tally.firstTool;
      return tally;
    }
    tally.lastMs = tally.firstMs + this.input.number();
    tally.lastId = this.id();
    tally.lastTool = this.tool();
    return tally;
  }

  tallies(tallies: readonly Tally[]): void {
    for (let left = this.input.number(); left > 0; left--) {
      const index = this.input.number();
      const tally = tallies[index];
      if (tally === undefined)
        throw new RangeError(`risk state has the unknown tally ${index}; upgrade this package`);
      this.tally(tally);
    }
  }

  tools(tools: BottomK<ToolTally>): void {
    for (let left = this.input.number(); left > 0; left--) {
      const hash = this.tool();
      const name = this.input.text();
      const bits = this.input.number();
      const words = this.input.number();
      const tally = {
        name,
        bits,
        verb: Math.floor(words / 32),
        noun: words % 32,
        count: this.input.number(),
        firstSuccessMs: this.optionalTime(),
        lastSuccessMs: this.optionalTime(),
        firstRefusedMs: this.optionalTime(),
        lastFailedMs: this.optionalTime(),
      };
      tools.reach(hash, () => tally);
    }
  }

  action(): [number, ActionRecord] {
    const rank = this.input.number();
    const hash = this.input.word();
    const record = {
      tool: this.tool(),
      bits: this.input.number(),
      rejected: this.input.number(),
      done: this.tally(emptyTally()),
      denied: this.tally(emptyTally()),
      refused: this.tally(emptyTally()),
      approved: this.tally(emptyTally()),
      stopped: rank % 2 === 1,
    };
    return [Math.floor(rank / 2) * classes + hash, record];
  }

  extremes(latest: boolean): PairExtremes {
    const kept = Array.from({ length: this.input.number() }, () => ({
      key: this.input.number(),
      timestampMs: this.time(),
      eventId: this.id(),
      tool: this.tool(),
    }));
    return new PairExtremes(latest, kept);
  }

  instants(): Instants {
    const total = this.input.number();
    const times = () => Array.from({ length: this.input.number() }, () => this.time());
    const head = times();
    return new Instants(head, times(), total);
  }
}

function earliest({ marks, stamps, versions, actions, acting, looking }: SessionState): number {
  let least = Number.MAX_SAFE_INTEGER;
  const read = (timestampMs: number) => {
    if (timestampMs < least) least = timestampMs;
  };
  for (const tally of marks) if (tally.count > 0) read(tally.firstMs);
  for (const tally of stamps) if (tally.count > 0) read(tally.firstMs);
  for (const [, { firstMs }] of versions.entries()) read(firstMs);
  for (const [, { done, denied, refused, approved }] of actions.entries())
    for (const tally of [done, denied, refused, approved]) if (tally.count > 0) read(tally.firstMs);
  for (const tools of [acting, looking]) {
    for (const [, tool] of tools.entries()) {
      for (const at of [tool.firstSuccessMs, tool.firstRefusedMs, tool.lastFailedMs]) if (at > 0) read(at);
    }
  }
  return least;
}

/** Serializes the state to a string of at most 8 KiB. Equal states give equal strings. */
export function serializeSession(state: SessionState): string {
  const baseMs = earliest(state);
  const writer = new StateWriter(baseMs);
  const { out } = writer;
  out.number(formatVersion);
  out.word(state.session);
  out.number(state.eventCount);
  out.number(baseMs);
  writer.tallies(state.marks);
  writer.tallies(state.stamps);
  writer.tools(state.acting);
  writer.tools(state.looking);
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
  const versions = state.versions.entries();
  out.number(versions.length);
  for (const [hash, version] of versions) {
    out.word(hash);
    out.text(version.version);
    writer.time(version.firstMs);
    out.number(version.lastMs - version.firstMs);
  }
  const actions = state.actions.entries();
  out.number(actions.length);
  for (const [key, record] of actions) writer.action(key, record);
  writer.extremes(state.readKinds);
  writer.extremes(state.reachedKinds);
  out.number(state.reachedNouns);
  out.number(state.reachedVerbs);
  writer.instants(state.losses);
  writer.instants(state.approvals);
  return out.toString();
}

/** Parses the output of {@link serializeSession}. Throws a `RangeError` for any other string. */
export function parseSession(text: string): SessionState {
  const input = new ByteReader(text);
  const format = input.number();
  if (format !== formatVersion) {
    throw new RangeError(
      `risk state has format ${format}, this version reads ${formatVersion}; recompute it from the events`,
    );
  }
  const empty = emptySession();
  const reader = new StateReader(input);
  const session = input.word();
  const eventCount = input.number();
  reader.base();
  reader.tallies(empty.marks);
  reader.tallies(empty.stamps);
  reader.tools(empty.acting);
  reader.tools(empty.looking);
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
    const firstMs = reader.time();
    const lastMs = firstMs + input.number();
    empty.versions.reach(hash, () => ({ version, firstMs, lastMs }));
  }
  for (let left = input.number(); left > 0; left--) empty.actions.restore(...reader.action());
  return {
    ...empty,
    session,
    eventCount,
    readKinds: reader.extremes(false),
    reachedKinds: reader.extremes(true),
    reachedNouns: input.number(),
    reachedVerbs: input.number(),
    losses: reader.instants(),
    approvals: reader.instants(),
  };
}
