import { parseExactJson } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { hashArguments } from './arguments-hash.ts';

test('hashes numbers that differ in one digit differently, and an integer as its BigInt', async () => {
  const hashOf = (text: string) => hashArguments(parseExactJson(text));
  const digits = ['1917043659912705297', '1917043659912705298', '1917043659912705300'];
  const hashes = await Promise.all(digits.map((ad) => hashOf(`{"ad":${ad}}`)));
  expect(new Set(hashes).size).toBe(3);
  expect(hashes[0]).toBe(await hashArguments({ ad: 1917043659912705297n }));
  expect(await hashOf('[1e400]')).not.toBe(await hashOf('[1e401]'));
  expect(await hashOf('{"ad":1}')).toBe(await hashArguments({ ad: 1 }));
});

test('hashes large arguments with such numbers like small ones', async () => {
  const filler = JSON.stringify('x'.repeat(100_000));
  const hashOf = (digits: string) => hashArguments(parseExactJson(`{"ad":${digits},"text":${filler}}`));
  expect(await hashOf('1917043659912705297')).not.toBe(await hashOf('1917043659912705298'));
});
