import { signCheckpoint } from '../src/checkpoint.ts';
import type { RecordToVerify } from '../src/compare-records.ts';
import { createSalt, type LogRecord, recordEntry } from '../src/leaf.ts';
import { toBase64 } from '../src/log-error.ts';
import type { LogSource } from '../src/log-source.ts';
import { createReceipt, type Receipt } from '../src/receipt.ts';
import {
  createKey,
  formatNote,
  parseNote,
  parseSignerKey,
  type SignerKey,
  signText,
} from '../src/signed-note.ts';
import { appendEntries, inclusionProof } from '../src/tiles.ts';
import { MemoryTiles } from './memory-tiles.ts';

/** A log in memory with its records, as a service would keep them. */
export class TestLog implements LogSource {
  readonly key: SignerKey;
  readonly witness: SignerKey = parseSignerKey(createKey('witness.example', 'witness').signerKey);
  readonly tiles = new MemoryTiles();
  readonly records: RecordToVerify[] = [];
  readonly entries: Uint8Array[] = [];
  root: Uint8Array = Buffer.alloc(0);
  checkpoint: string | undefined;

  /** @param key - key of another log that this one pretends to be */
  constructor(key = parseSignerKey(createKey('log.example/acme').signerKey)) {
    this.key = key;
  }

  get size(): number {
    return this.records.length;
  }

  /** Appends records, with their salts if they have some, and signs and cosigns the new checkpoint. */
  async append(records: readonly (LogRecord | RecordToVerify)[], time = 1_700_000_000): Promise<string> {
    const salts = records.map((record) =>
      'salt' in record ? Buffer.from(record.salt, 'base64') : createSalt(),
    );
    const entries = records.map((record, index) => recordEntry(record, salts[index] as Uint8Array));
    const { root } = await appendEntries(this.tiles, this.size, entries);
    for (const [index, record] of records.entries()) {
      this.records.push({ ...record, salt: toBase64(salts[index] as Uint8Array), index: this.size });
    }
    this.entries.push(...entries);
    this.root = root;
    const note = parseNote(signCheckpoint(this.size, root, this.key));
    this.checkpoint = formatNote({
      ...note,
      signatures: [...note.signatures, signText(note.text, this.witness, time)],
    });
    return this.checkpoint;
  }

  /** Appends as many events. */
  appendEvents(count: number, time?: number): Promise<string> {
    const events = Array.from({ length: count }, (_, place) => {
      const number = this.size + place;
      return { kind: 'event', id: `evt_${number}`, row: { tool: 'search', number } } as const;
    });
    return this.append(events, time);
  }

  async readCheckpoint(): Promise<string | undefined> {
    return this.checkpoint;
  }

  /** Returns the receipt of a record under the newest checkpoint. */
  async receipt(index: number): Promise<Receipt> {
    const record = this.records[index] as RecordToVerify;
    const hashes = await inclusionProof(this.tiles, index, this.size);
    return createReceipt(record, Buffer.from(record.salt, 'base64'), {
      index,
      hashes,
      checkpoint: this.checkpoint as string,
    });
  }

  /** Returns a copy of the tiles as they are now. */
  copyTiles(): MemoryTiles {
    const copy = new MemoryTiles();
    for (const [path, bytes] of this.tiles.files) copy.files.set(path, Uint8Array.from(bytes));
    return copy;
  }
}
