import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createKey,
  formatNote,
  openNote,
  parseNote,
  parseSignerKey,
  parseVerifierKey,
  signText,
} from './signed-note.ts';

// The example of C2SP signed-note.
const exampleKey = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const exampleNote = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;

// The example of Go's package x/mod/sumdb/note.
const goKey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const goSigner = 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz';
const goText = `If you think cryptography is the answer to your problem,
then you don't know what your problem is.
`;
const goNote = `${goText}
— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
`;

const untrusted = expect.objectContaining({ code: 'untrusted' });
const malformed = expect.objectContaining({ code: 'malformed' });

function pairOf(name: string, kind: 'log' | 'witness' = 'log') {
  const { verifierKey, signerKey } = createKey(name, kind);
  return { verifier: parseVerifierKey(verifierKey), signer: parseSignerKey(signerKey) };
}

describe('the examples of the specifications', () => {
  test.each([
    ['C2SP', exampleKey, exampleNote],
    ['Go', goKey, goNote],
  ])('verifies the note of %s', (_name, key, text) => {
    const verifier = parseVerifierKey(key);
    expect(verifier.text).toBe(key);
    const note = parseNote(text);
    expect(openNote(note, [verifier])).toEqual([{ key: verifier }]);
    expect(formatNote(note)).toBe(text);
  });

  test("signs the note of Go with Go's key, byte for byte", () => {
    const signer = parseSignerKey(goSigner);
    expect(signer.verifierKey.text).toBe(goKey);
    expect(formatNote({ text: goText, signatures: [signText(goText, signer)] })).toBe(goNote);
  });

  test('reads the key of the Go checksum database', () => {
    const key = 'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8';
    expect(parseVerifierKey(key)).toMatchObject({ name: 'sum.golang.org', kind: 'log', id: 0x033de0ae });
  });

  test('keeps the time of the cosignature in the example of C2SP tlog-cosignature', () => {
    const line =
      'jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==';
    const [signature] = parseNote(`text\n\n— witness.example.com/w1 ${line}\n`).signatures;
    expect(Buffer.from(signature?.signature ?? []).readBigUInt64BE()).toBe(1679315147n);
    expect(signature?.signature).toHaveLength(72);
  });
});

test('signs and verifies any text with several keys, and ignores unknown ones', () => {
  const log = pairOf('log.example/a');
  const witness = pairOf('witness.example', 'witness');
  const stranger = pairOf('log.example/a');
  const line = fc.string({ unit: 'grapheme' }).filter((text) => !/\p{Cc}/u.test(text));
  fc.assert(
    fc.property(fc.array(line, { minLength: 1 }), fc.integer({ min: 1 }), (lines, time) => {
      const text = lines.map((one) => `${one}\n`).join('');
      const signatures = [
        signText(text, stranger.signer),
        signText(text, log.signer),
        signText(text, witness.signer, time),
      ];
      const note = parseNote(formatNote({ text, signatures }));
      expect(note.text).toBe(text);
      expect(openNote(note, [log.verifier, witness.verifier])).toEqual([
        { key: log.verifier },
        { key: witness.verifier, time },
      ]);
      expect(openNote(note, [witness.verifier])).toEqual([{ key: witness.verifier, time }]);
      expect(() => openNote(note, [])).toThrow(untrusted);
      expect(() => openNote({ ...note, text: `${text}x\n` }, [log.verifier])).toThrow(untrusted);
    }),
    { numRuns: 50 },
  );
});

test('rejects a note with any changed byte', () => {
  const key = parseVerifierKey(exampleKey);
  for (let at = 0; at < exampleNote.length; at += 1) {
    const character = exampleNote[at] === 'A' ? 'B' : 'A';
    const changed = exampleNote.slice(0, at) + character + exampleNote.slice(at + 1);
    expect(() => openNote(parseNote(changed), [key]), `byte ${at}`).toThrow(
      expect.objectContaining({ name: 'LogError' }),
    );
  }
});

test('rejects a note in which a known key signed another text, although another key signed this one', () => {
  const [one, other] = [pairOf('one'), pairOf('other')];
  const note = { text: 'a\n', signatures: [signText('a\n', one.signer), signText('b\n', other.signer)] };
  expect(() => openNote(note, [one.verifier, other.verifier])).toThrow('The signature of other');
  expect(openNote(note, [one.verifier])).toHaveLength(1);
});

test('rejects a cosignature with another time, or under the kind of another key', () => {
  const witness = pairOf('witness.example', 'witness');
  const signature = signText('a\n', witness.signer, 1_700_000_000);
  const later = Uint8Array.from(signature.signature);
  later[7] = (later[7] as number) + 1;
  const note = (bytes: Uint8Array) => ({ text: 'a\n', signatures: [{ ...signature, signature: bytes }] });
  expect(openNote(note(signature.signature), [witness.verifier])).toMatchObject([{ time: 1_700_000_000 }]);
  for (const wrong of [later, signature.signature.subarray(8), Buffer.alloc(72, 255)]) {
    expect(() => openNote(note(wrong), [witness.verifier])).toThrow(untrusted);
  }
  expect(() => signText('a\n', witness.signer)).toThrow(
    '`time` of a cosignature must be a positive whole number',
  );
});

test('takes the first of several cosignatures of a witness', () => {
  const { signer, verifier } = pairOf('witness.example', 'witness');
  const signatures = [signText('a\n', signer, 5), signText('a\n', signer, 3)];
  expect(openNote({ text: 'a\n', signatures }, [verifier])).toEqual([{ key: verifier, time: 5 }]);
});

test('counts one signature of a key that signed twice', () => {
  const { signer, verifier } = pairOf('one');
  const signature = signText('a\n', signer);
  expect(openNote({ text: 'a\n', signatures: [signature, signature] }, [verifier])).toHaveLength(1);
});

const signed = '— a AAAAAAA=\n';
test.each([
  ['no signature', 'text\n'],
  ['no newline at the end', `text\n\n${signed.trimEnd()}`],
  ['a tab', `te\txt\n\n${signed}`],
  ['a carriage return', `text\r\n\n${signed}`],
  ['half of a surrogate pair', `te\ud800xt\n\n${signed}`],
  ['a hyphen for the dash', 'text\n\n- a AAAAAAA=\n'],
  ['two spaces', 'text\n\n—  a AAAAAAA=\n'],
  ['a name with a plus', 'text\n\n— a+b AAAAAAA=\n'],
  ['a name with a wide space', 'text\n\n— a\u3000b AAAAAAA=\n'],
  ['Base64 without padding', 'text\n\n— a AAAAAAA\n'],
  ['Base64 with stray bits', 'text\n\n— a AAAAAAB=\n'],
  ['Base64 for URLs', 'text\n\n— a ____AAA=\n'],
  ['no bytes after the key id', 'text\n\n— a AAAAAA==\n'],
  ['more than 100 signatures', `text\n\n${signed.repeat(101)}`],
  ['more than a megabyte', `${'x'.repeat(1_000_001)}\n\n${signed}`],
])('refuses a note with %s', (_problem, note) => {
  expect(() => parseNote(note)).toThrow(malformed);
});

test('splits a note at its last empty line', () => {
  const note = parseNote(`a\n\nb\n\n${signed}`);
  expect(note.text).toBe('a\n\nb\n');
});

test.each([
  ['no parts', 'example.com/foo'],
  ['an id in capitals', exampleKey.replace('530d903a', '530D903A')],
  ['another id', exampleKey.replace('530d903a', '530d903b')],
  ['another name', exampleKey.replace('foo', 'bar')],
  ['a space in its name', exampleKey.replace('foo', 'f o')],
  ['a short key', 'example.com/foo+530d903a+Aekyeg=='],
  ['another algorithm', `example.com/foo+530d903a+${Buffer.alloc(33, 2).toString('base64')}`],
  ['no padding', 'example.com/foo+530d903a+Aekyeg'],
])('refuses a verifier key with %s', (_problem, key) => {
  expect(() => parseVerifierKey(key)).toThrow(malformed);
});

test('refuses a signer key without a word of it in the message', () => {
  const secret = 'AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz';
  for (const key of [
    goSigner.replace('c74f20a3', 'c74f20a4'),
    goSigner.replace('PRIVATE', 'PUBLIC'),
    goSigner.replace('AYEK', 'BYEK'),
    `${goSigner}=`,
    goSigner.slice(0, -4),
  ]) {
    const problem = captured(() => parseSignerKey(key));
    expect(problem).toMatchObject({ code: 'malformed' });
    expect(problem.message).not.toContain(secret.slice(8, 30));
  }
});

function captured(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('It did not throw.');
}

test('refuses to create a key with a name that notes cannot have', () => {
  for (const name of ['', 'a b', 'a+b', 'a\nb']) expect(() => createKey(name)).toThrow(malformed);
});
