import { describe, expect, test } from 'vitest';
import { formatCheckpoint, openCheckpoint, parseCheckpoint, signCheckpoint } from './checkpoint.ts';
import { emptyRoot, leafHash } from './merkle.ts';
import { createKey, formatNote, parseNote, parseSignerKey, signText } from './signed-note.ts';

const log = parseSignerKey(createKey('log.example/acme').signerKey);
const witness = parseSignerKey(createKey('witness.example', 'witness').signerKey);
const root = leafHash(Buffer.from('entry'));

// The example of C2SP tlog-checkpoint.
const example = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
`;

describe('the text of a checkpoint', () => {
  test('reads and writes the example of C2SP', () => {
    const checkpoint = parseCheckpoint(example);
    expect(checkpoint).toMatchObject({
      origin: 'example.com/behind-the-sofa',
      size: 20_852_163,
      extensions: [],
    });
    expect(formatCheckpoint(checkpoint)).toBe(example);
  });

  test('keeps extension lines', () => {
    expect(parseCheckpoint(`${example}more\nlines\n`).extensions).toEqual(['more', 'lines']);
  });

  const hash = 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=';
  test.each([
    ['no newline at its end', example.trimEnd(), 'must end in a newline'],
    ['two lines', 'a\n1\n', 'must have lines for origin, size and root'],
    ['an empty origin', `\n1\n${hash}\n`, 'The origin of a checkpoint must not be empty.'],
    ['a leading zero', `a\n01\n${hash}\n`, 'must be a decimal number without leading zeros, got "01".'],
    ['a sign', `a\n+1\n${hash}\n`, 'The size of a checkpoint must be a decimal number'],
    ['a fraction', `a\n1.0\n${hash}\n`, 'The size of a checkpoint must be a decimal number'],
    ['a size of 2^53', `a\n9007199254740992\n${hash}\n`, 'must be at most 2^53 - 1'],
    ['a short root', 'a\n1\nAAAA\n', 'must be a SHA-256 hash of 32 bytes in Base64, got 3 bytes.'],
    ['a root without padding', `a\n1\n${hash.slice(0, -1)}\n`, 'must be standard Base64 with padding'],
    ['an empty line', `${example}\nx\n`, 'must not have an empty line'],
  ])('refuses %s', (_problem, text, message) => {
    expect(() => parseCheckpoint(text)).toThrow(message);
  });
});

test('verifies the signature of the log and the cosignatures of known witnesses', () => {
  const note = parseNote(signCheckpoint(7, root, log));
  const cosigned = formatNote({
    ...note,
    signatures: [...note.signatures, signText(note.text, witness, 1_700_000_000)],
  });
  const opened = openCheckpoint(cosigned, [log.verifierKey], [witness.verifierKey]);
  expect(opened).toMatchObject({ origin: 'log.example/acme', size: 7, root });
  expect(opened.signatures.map(({ key, time }) => [key.name, time])).toEqual([
    ['log.example/acme', undefined],
    ['witness.example', 1_700_000_000],
  ]);
  expect(openCheckpoint(cosigned, [log.verifierKey]).signatures).toHaveLength(1);
});

test('refuses a checkpoint that the log of its origin has not signed', () => {
  const other = parseSignerKey(createKey('log.example/other').signerKey);
  const text = formatCheckpoint({ origin: 'log.example/acme', size: 7, root, extensions: [] });
  const open = (signatures: ReturnType<typeof signText>[]) => () =>
    openCheckpoint(
      formatNote({ text, signatures }),
      [log.verifierKey, other.verifierKey],
      [witness.verifierKey],
    );
  expect(open([signText(text, other)])).toThrow('No known key has signed');
  expect(open([signText(text, witness, 1)])).toThrow('The log log.example/acme itself has not signed');
  expect(open([{ ...signText(text, log), signature: Buffer.alloc(64) }])).toThrow('does not fit the text');
  expect(() => openCheckpoint(signCheckpoint(7, root, other), [log.verifierKey])).toThrow(
    'The checkpoint is of the log "log.example/other", and keys are known of log.example/acme.',
  );
});

test('refuses another root than that of nothing for a log without entries', () => {
  expect(openCheckpoint(signCheckpoint(0, emptyRoot, log), [log.verifierKey]).size).toBe(0);
  expect(() => openCheckpoint(signCheckpoint(0, root, log), [log.verifierKey])).toThrow(
    'must be the hash of nothing',
  );
});

test('does not sign with the key of a witness', () => {
  expect(() => signCheckpoint(7, root, witness)).toThrow('`key` must be the key of a log');
});
