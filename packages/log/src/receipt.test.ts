import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TestLog } from '../tests/test-log.ts';
import { trustPolicy } from './policy.ts';
import { formatProof, parseProof, parseReceipt, ReceiptVerifier, verifyReceipt } from './receipt.ts';
import { createKey } from './signed-note.ts';

const log = new TestLog();
await log.appendEvents(300);
const policy = trustPolicy(log.key.verifierKey.text, { witnesses: [log.witness.verifierKey.text] });
const { row } = log.records[17] as { row: unknown };

test('verifies a record offline, from its receipt as JSON', async () => {
  const receipt = parseReceipt(JSON.parse(JSON.stringify(await log.receipt(17))));
  const verified = verifyReceipt(receipt, row, policy);
  expect(verified).toMatchObject({ index: 17, checkpoint: { origin: 'log.example/acme', size: 300 } });
  expect(verified.checkpoint.signatures.at(-1)).toMatchObject({ time: 1_700_000_000 });
});

test('contains a proof in the format of C2SP tlog-proof', async () => {
  const { proof } = await log.receipt(17);
  const [header, index, ...rest] = proof.split('\n');
  expect([header, index]).toEqual(['c2sp.org/tlog-proof@v1', 'index 17']);
  expect(rest.slice(9, 12)).toEqual(['', 'log.example/acme', '300']);
  expect(formatProof(parseProof(proof))).toBe(proof);
  const extra = proof.replace('\n', '\nextra YWJj\n');
  expect(parseProof(extra)).toEqual(parseProof(proof));
});

test('refuses every change of a record, of its salt and of its proof', async () => {
  const receipt = await log.receipt(17);
  expect(() => verifyReceipt(receipt, { tool: 'search', number: 18 }, policy)).toThrow(
    'The event "evt_17" is not entry 17 of log.example/acme: the record, its salt or its proof was changed.',
  );
  expect(() => verifyReceipt({ ...receipt, id: 'evt_18' }, row, policy)).toThrow('is not entry 17');
  expect(() => verifyReceipt({ ...receipt, kind: 'audit' }, row, policy)).toThrow('is not entry 17');
  const salt = Buffer.alloc(16).toString('base64');
  expect(() => verifyReceipt({ ...receipt, salt }, row, policy)).toThrow('is not entry 17');
  expect(() => verifyReceipt({ ...receipt, salt: 'AAAA' }, row, policy)).toThrow(
    'must be 16 bytes in Base64, got 3 bytes',
  );
});

test('refuses a receipt with any byte of its proof changed', async () => {
  const receipt = await log.receipt(17);
  fc.assert(
    fc.property(
      fc.nat({ max: receipt.proof.length - 1 }),
      fc.constantFrom('A', 'b', '7', '\n', ' '),
      (at, character) => {
        fc.pre(receipt.proof[at] !== character);
        const proof = receipt.proof.slice(0, at) + character + receipt.proof.slice(at + 1);
        // A changed name, key id or signature of the witness makes it unknown, and the policy demands it.
        expect(() => verifyReceipt({ ...receipt, proof }, row, policy)).toThrow(
          expect.objectContaining({ name: 'LogError' }),
        );
      },
    ),
    { numRuns: 1500 },
  );
});

test('demands the cosignatures of the policy', async () => {
  const receipt = await log.receipt(17);
  const other = createKey('other.example', 'witness').verifierKey;
  const strict = trustPolicy(log.key.verifierKey.text, { witnesses: [other, log.witness.verifierKey.text] });
  expect(() => verifyReceipt(receipt, row, strict)).toThrow(
    'The checkpoint of log.example/acme at 300 entries needs cosignatures of 2 of (other.example, witness.example), got witness.example.',
  );
  const foreign = trustPolicy(createKey('log.example/acme').verifierKey);
  expect(() => verifyReceipt(receipt, row, foreign)).toThrow('No known key has signed');
});

test('opens the checkpoint of many receipts once', async () => {
  const verifier = new ReceiptVerifier(policy);
  for (const index of [0, 1, 255, 256, 299]) {
    const { row: fields } = log.records[index] as { row: unknown };
    expect(verifier.verify(await log.receipt(index), fields).index).toBe(index);
  }
  expect(verifier.checkpoints).toHaveLength(1);
});

const proofStart = 'c2sp.org/tlog-proof@v1';
test.each([
  ['another header', 'c2sp.org/tlog-proof@v2\nindex 1\n\nx\n', 'must begin with the line'],
  ['no index', `${proofStart}\n\nx\n`, 'must have a line "index <number>", got ""'],
  ['a leading zero', `${proofStart}\nindex 01\n\nx\n`, 'The index of a proof must be a decimal number'],
  ['a short hash', `${proofStart}\nindex 1\nAAAA\n\nx\n`, 'A hash of a proof must be a SHA-256 hash'],
  ['no empty line', `${proofStart}\nindex 1\n`, 'must begin with the line'],
  [
    'too many hashes',
    `${proofStart}\nindex 1\n${`${'A'.repeat(43)}=\n`.repeat(64)}\nx\n`,
    'at most 63 hashes, got 64',
  ],
  ['extra data that is not Base64', `${proofStart}\nextra !\nindex 1\n\nx\n`, 'The extra data of a proof'],
])('refuses a proof with %s', (_problem, text, message) => {
  expect(() => parseProof(text)).toThrow(message);
});

test.each([
  [null, '`kind` of a receipt must be one of event, decision, approval, audit, deletion.'],
  [{ kind: 'other' }, '`kind` of a receipt'],
  [{ kind: 'event', id: 1, salt: '', proof: '' }, '`id` of a receipt must be a string, got number.'],
  [{ kind: 'event', id: '1', proof: '' }, '`salt` of a receipt must be a string, got undefined.'],
])('refuses the receipt %o', (value, message) => {
  expect(() => parseReceipt(value)).toThrow(message);
});
