import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openCheckpoint, signCheckpoint } from '../src/checkpoint.ts';
import { toBase64 } from '../src/log-error.ts';
import { LogFolder } from '../src/log-folder.ts';
import { leafHash } from '../src/merkle.ts';
import {
  createKey,
  formatNote,
  openNote,
  parseNote,
  parseSignerKey,
  parseVerifierKey,
  signText,
} from '../src/signed-note.ts';
import { appendEntries, consistencyProof, inclusionProof, treeRoot } from '../src/tiles.ts';
import { type GoVerifier, startGoVerifier } from './go-verifier/build-go-verifier.ts';
import { testEntries } from './memory-tiles.ts';

/**
 * Go's `x/mod/sumdb` was written by others, long before this package: it must accept what this package writes, refuse it
 * after any change, and write what this package accepts.
 */
let go: GoVerifier;
let folder: string;

beforeAll(async () => {
  go = await startGoVerifier();
  folder = await mkdtemp(join(tmpdir(), 'actlog-go-'));
}, 600_000);

afterAll(async () => {
  go.close();
  await rm(folder, { recursive: true, force: true });
});

const refusal = expect.stringMatching(/^error: /);

function withFlippedBit(bytes: Uint8Array, place: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[place % copy.length] = (copy[place % copy.length] as number) ^ 1;
  return copy;
}

/** Writes a log whose tiles Go reads from files. */
async function logOf(size: number) {
  const path = await mkdtemp(join(folder, 'log-'));
  const log = new LogFolder(path);
  const entries = testEntries(size);
  // In two steps, so that partial tiles were extended.
  const first = Math.floor(size / 3);
  await appendEntries(log, 0, entries.slice(0, first));
  const { root } = await appendEntries(log, first, entries.slice(first));
  return { path, log, entries, root };
}

const sizes = [1, 2, 255, 256, 257, 700, 65_536 + 300];

test.each(sizes)(
  'Go reads every tile and entry of a log of %i entries, and refuses it after a change',
  async (size) => {
    const { path, root } = await logOf(size);
    const request = { op: 'tiles', folder: path, size, root: toBase64(root) };
    expect(await go.request(request)).toBe('ok');
    expect(await go.request({ ...request, root: toBase64(withFlippedBit(root, 7)) })).toEqual(refusal);
    const suffix = (count: number) => (count % 256 === 0 ? '' : `.p/${count % 256}`);
    const lastTile = String(Math.floor((size - 1) / 256)).padStart(3, '0');
    for (const file of [`tile/0/${lastTile}${suffix(size)}`, `tile/entries/${lastTile}${suffix(size)}`]) {
      const bytes = await readFile(join(path, file));
      await writeFile(join(path, file), withFlippedBit(bytes, bytes.length - 1));
      expect(await go.request(request), file).toEqual(refusal);
      await writeFile(join(path, file), bytes);
    }
    expect(await go.request(request)).toBe('ok');
  },
);

test.each(sizes)('Go accepts inclusion proofs in a tree of %i entries, and makes the same', async (size) => {
  const { path, log, entries, root } = await logOf(size);
  for (const index of new Set([0, Math.floor(size / 2), size - 1])) {
    const proof = await inclusionProof(log, index, size);
    const leaf = leafHash(entries[index] as Uint8Array);
    const request = {
      op: 'inclusion',
      index,
      size,
      root: toBase64(root),
      leaf: toBase64(leaf),
      proof: proof.map(toBase64),
    };
    expect(await go.request(request)).toBe('ok');
    expect(await go.request({ ...request, leaf: toBase64(withFlippedBit(leaf, index)) })).toEqual(refusal);
    for (const [place, hash] of proof.entries()) {
      const changed = proof.with(place, withFlippedBit(hash, place)).map(toBase64);
      expect(await go.request({ ...request, proof: changed })).toEqual(refusal);
    }
    const made = await go.request({
      op: 'prove',
      folder: path,
      size,
      root: toBase64(root),
      index,
      oldSize: size,
    });
    expect(JSON.parse(made.slice(3))[0] ?? []).toEqual(proof.map(toBase64));
  }
});

test.each(sizes)(
  'Go accepts consistency proofs to a tree of %i entries, and makes the same',
  async (size) => {
    const { path, log, entries, root } = await logOf(size);
    for (const oldSize of new Set([1, Math.ceil(size / 2), Math.max(1, size - 1), size])) {
      const proof = await consistencyProof(log, oldSize, size);
      const old = new LogFolder(await mkdtemp(join(folder, 'old-')));
      await appendEntries(old, 0, entries.slice(0, oldSize));
      const oldRoot = await treeRoot(old, oldSize);
      const request = {
        op: 'consistency',
        oldSize,
        oldRoot: toBase64(oldRoot),
        size,
        root: toBase64(root),
        proof: proof.map(toBase64),
      };
      expect(await go.request(request)).toBe('ok');
      expect(await go.request({ ...request, oldRoot: toBase64(withFlippedBit(oldRoot, oldSize)) })).toEqual(
        refusal,
      );
      for (const [place, hash] of proof.entries()) {
        const changed = proof.with(place, withFlippedBit(hash, place)).map(toBase64);
        expect(await go.request({ ...request, proof: changed })).toEqual(refusal);
      }
      const made = await go.request({
        op: 'prove',
        folder: path,
        size,
        root: toBase64(root),
        index: 0,
        oldSize,
      });
      expect(JSON.parse(made.slice(3))[1] ?? []).toEqual(proof.map(toBase64));
    }
  },
);

test('Go opens a cosigned checkpoint, and refuses it after a change', async () => {
  const log = createKey('log.example/acme');
  const witness = createKey('witness.example', 'witness');
  const { root } = await logOf(300);
  const signed = parseNote(signCheckpoint(300, root, parseSignerKey(log.signerKey)));
  const cosignature = signText(signed.text, parseSignerKey(witness.signerKey), 1_700_000_000);
  const note = formatNote({ ...signed, signatures: [...signed.signatures, cosignature] });
  const request = { op: 'checkpoint', note, keys: [log.verifierKey, witness.verifierKey] };
  const response = await go.request(request);
  expect(JSON.parse(response.slice(3))).toEqual([
    'log.example/acme',
    '300',
    toBase64(root),
    '',
    'log.example/acme',
    'witness.example',
  ]);
  expect(await go.request({ ...request, note: note.replace('\n300\n', '\n301\n') })).toEqual(refusal);
  for (const key of [log, witness]) {
    const { signerKey } = createKey(
      key === log ? 'log.example/acme' : 'witness.example',
      key === log ? 'log' : 'witness',
    );
    expect(await go.request({ ...request, keys: [parseSignerKey(signerKey).verifierKey.text] })).toEqual(
      refusal,
    );
  }
  const last = note.lastIndexOf('==') - 5;
  const changed = `${note.slice(0, last)}${note[last] === 'A' ? 'B' : 'A'}${note.slice(last + 1)}`;
  expect(await go.request({ ...request, note: changed })).toEqual(refusal);
});

test('Go signs with our keys, and its notes are verified here', async () => {
  const { verifierKey, signerKey } = createKey('log.example/acme');
  const { root } = await logOf(3);
  const ours = signCheckpoint(3, root, parseSignerKey(signerKey));
  const { text } = parseNote(ours);
  const response = await go.request({ op: 'sign', note: text, signer: signerKey });
  const theirs = Buffer.from(response.slice(3), 'base64').toString('utf8');
  expect(theirs).toBe(ours);
  expect(openNote(parseNote(theirs), [parseVerifierKey(verifierKey)])).toHaveLength(1);
  expect(openCheckpoint(theirs, [parseVerifierKey(verifierKey)])).toMatchObject({ size: 3, root });
});
