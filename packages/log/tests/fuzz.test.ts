import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAddCheckpoint } from '../src/add-checkpoint.ts';
import { openCheckpoint } from '../src/checkpoint.ts';
import { LogError } from '../src/log-error.ts';
import { parsePolicy, trustPolicy } from '../src/policy.ts';
import { parseProof, parseReceipt, verifyReceipt } from '../src/receipt.ts';
import { parseSeal } from '../src/session-seal.ts';
import { parseSignerKey, parseVerifierKey } from '../src/signed-note.ts';
import { parseTilePath } from '../src/tiles.ts';
import { TestLog } from './test-log.ts';

const log = new TestLog();
await log.appendEvents(3);
const logKey = log.key.verifierKey.text;
const checkpoint = log.checkpoint as string;
const receipt = await log.receipt(1);
const [, record] = log.records;

const readers: Record<string, [valid: string, read: (text: string) => unknown]> = {
  'a checkpoint': [
    checkpoint,
    (text) => openCheckpoint(text, [log.key.verifierKey], [log.witness.verifierKey]),
  ],
  'a proof': [receipt.proof, parseProof],
  'a receipt': [
    receipt.proof,
    (proof) => verifyReceipt({ ...receipt, proof }, record?.row, trustPolicy(logKey)),
  ],
  'a request to a witness': [`old 0\n\n${checkpoint}`, parseAddCheckpoint],
  'a verifier key': [logKey, parseVerifierKey],
  'a signer key': [
    'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
    parseSignerKey,
  ],
  'a policy': [`log ${logKey}\nwitness w ${log.witness.verifierKey.text}\nquorum w\n`, parsePolicy],
  'a path': ['tile/0/x001/234.p/5', parseTilePath],
};

test.each(Object.entries(readers))('reads %s, or says what is wrong with it', (_name, [valid, read]) => {
  read(valid);
  const anything = fc.string({ unit: 'binary', maxLength: 300 });
  const part = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 3 }),
    fc.constantFrom('\n', '\n\n', ' ', '+', '=', '— ', '0'),
  );
  const changed = fc
    .tuple(fc.nat({ max: valid.length }), fc.nat({ max: 20 }), part)
    .map(([at, length, inserted]) => valid.slice(0, at) + inserted + valid.slice(at + length));
  fc.assert(
    fc.property(fc.oneof(anything, { arbitrary: changed, weight: 5 }), (text) => {
      try {
        read(text);
      } catch (error) {
        expect(LogError.is(error), String(error)).toBe(true);
        expect((error as Error).message).toMatch(/\.$/);
      }
    }),
    { numRuns: 500 },
  );
});

test('reads any JSON as a receipt or a seal, or says what is wrong with it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      for (const read of [parseReceipt, parseSeal]) {
        try {
          read(value);
        } catch (error) {
          expect(LogError.is(error), String(error)).toBe(true);
        }
      }
    }),
  );
});
