import { runCommonJsBundle } from '@actlog/adapter-suite';
import { expect, test } from 'vitest';

const program = `
import { actlog } from '@actlog/langchain';
import { createAgent } from 'langchain';
actlog.install();
createAgent({ model: 'none', tools: [], middleware: [actlog()] });
console.log('started');
`;

test('a CommonJS bundle with an agent starts', async () => {
  const { stdout } = await runCommonJsBundle({ program, folder: import.meta.dirname });
  expect(stdout).toContain('started');
});
