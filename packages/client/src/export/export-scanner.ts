/** Findings of a scan of an exported session. */
export interface ScannedExport {
  /** `true` if the document is one complete JSON object with at most one `events` array. */
  readonly whole: boolean;
  /**
   * Number of elements of the `events` array; undefined if there is none, because the specification does not fix its
   * name.
   */
  readonly eventCount: number | undefined;
  /** Count that the document declares. */
  readonly declaredEventCount: number | undefined;
  readonly declaredSha256: string | undefined;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/** Maximum number of characters kept of a field's name or value. */
const maxTextLength = 200;

/**
 * Reads an exported session byte by byte in constant memory: finds the bytes of its `events` array (brackets included),
 * counts the events, and keeps the `eventCount` and `contentSha256` fields next to it.
 */
export class ExportScanner {
  readonly #onEvents: (bytes: Uint8Array) => void;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #inEvents = false;
  #arrays = 0;
  #commas = 0;
  #hasElement = false;
  #ended = false;
  #broken = false;
  #awaitsName = false;
  #name = '';
  #text = '';
  #isQuoted = false;
  readonly #fields = new Map<string, string>();

  /** @param onEvents Receives the bytes of the `events` array, in order. */
  constructor(onEvents: (bytes: Uint8Array) => void) {
    this.#onEvents = onEvents;
  }

  /** Number of events so far. */
  get eventCount(): number {
    return this.#hasElement ? this.#commas + 1 : 0;
  }

  /** Scans the next bytes. */
  feed(chunk: Uint8Array): void {
    let from = this.#inEvents ? 0 : -1;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (this.#inString) {
        this.#inside(byte);
      } else if (byte === 0x7b || byte === 0x5b) {
        if (this.#open(byte)) from = at;
      } else if (byte === 0x7d || byte === 0x5d) {
        if (this.#close(byte)) {
          this.#onEvents(chunk.subarray(from, at + 1));
          from = -1;
        }
      } else if (byte > 0x20) {
        this.#between(byte);
      }
    }
    if (from >= 0) this.#onEvents(chunk.subarray(from));
  }

  /** Returns the findings after the last byte. */
  end(): ScannedExport {
    const declaredEventCount = this.#fields.get('eventCount');
    return {
      whole: this.#ended && !this.#broken && this.#arrays <= 1,
      eventCount: this.#arrays === 0 ? undefined : this.eventCount,
      declaredEventCount: declaredEventCount === undefined ? undefined : Number(declaredEventCount),
      declaredSha256: this.#fields.get('contentSha256'),
    };
  }

  #inside(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === backslash) this.#escaped = true;
    else if (byte === quote) {
      this.#inString = false;
      return;
    }
    if (this.#depth === 1) this.#keep(byte);
  }

  /** Returns `true` if the `events` array starts here. */
  #open(byte: number): boolean {
    if (this.#ended || (this.#depth === 0 && byte !== 0x7b)) this.#broken = true;
    this.#depth += 1;
    if (this.#depth === 1) this.#awaitsName = true;
    if (this.#inEvents) this.#hasElement = true;
    if (this.#depth !== 2 || byte !== 0x5b || this.#name !== 'events') return false;
    this.#inEvents = true;
    this.#arrays += 1; // `JSON.parse` would use the second of two arrays
    return true;
  }

  /** Returns `true` if the `events` array ends here. */
  #close(byte: number): boolean {
    if (this.#depth === 0 || (this.#inEvents && this.#depth === 2 && byte !== 0x5d)) this.#broken = true;
    this.#depth -= 1;
    if (this.#depth === 0) {
      this.#endField();
      this.#ended = true;
    }
    if (!this.#inEvents || this.#depth !== 1) return false;
    this.#inEvents = false;
    return true;
  }

  #between(byte: number): void {
    if (this.#depth === 0) this.#broken = true;
    if (byte === quote) {
      this.#inString = true;
      if (this.#depth === 1) this.#isQuoted = true;
    }
    if (this.#inEvents) {
      if (this.#depth !== 2) return;
      if (byte === comma) this.#commas += 1;
      else this.#hasElement = true;
    }
    if (this.#depth !== 1) return;
    if (byte === colon && this.#awaitsName) {
      this.#name = this.#text;
      this.#text = '';
      this.#isQuoted = false;
      this.#awaitsName = false;
    } else if (byte === comma) {
      this.#endField();
    } else if (byte !== quote) {
      this.#keep(byte);
    }
  }

  #endField(): void {
    if (!this.#awaitsName) this.#setField(this.#name.slice(0, 20));
    this.#text = '';
    this.#awaitsName = true;
    if (this.#fields.size > 100) this.#broken = true;
  }

  #setField(name: string): void {
    // A null field counts as missing.
    if (this.#text === 'null' && !this.#isQuoted) this.#fields.delete(name);
    else this.#fields.set(name, this.#text);
  }

  #keep(byte: number): void {
    if (this.#text.length < maxTextLength) this.#text += String.fromCharCode(byte);
  }
}
