import { expect, test } from 'vitest';
import { statedVersions, versionLine } from './versions.ts';

const stated = statedVersions();

test.each(stated)('the sources of $name state the version of its manifest', ({ text, version }) => {
  expect(versionLine.exec(text)?.[1]).toBe(version);
});

test('every adapter, and every package that names itself in requests, states its version', () => {
  const names = stated.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(['@actlog/client', '@actlog/recorder', '@actlog/langchain', '@actlog/mcp']),
  );
  expect(names).toHaveLength(24);
});
