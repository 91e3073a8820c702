import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../workspace.ts';
import type { Consumer } from './consumer.ts';

/** A code block of a page that is run as printed. */
export interface Snippet {
  /** Path of the page, relative to the root. */
  readonly page: string;
  /** File name in the mark above the code, such as `<!-- run: quickstart.ts -->`. */
  readonly name: string;
  readonly code: string;
}

/** Returns the snippets of a page with the mark `run`, or another one such as `jest`. */
export function snippetsOf(path: string, mark: 'run' | 'jest' = 'run'): Snippet[] {
  const text = readFileSync(path, 'utf8');
  const marked = new RegExp(`<!-- ${mark}: (\\S+) -->\\n+\`\`\`\\w+\\n(.*?)\\n\`\`\``, 'gs');
  return [...text.matchAll(marked)].map(([, name, code]) => ({
    page: relative(root, path),
    name: String(name),
    code: String(code),
  }));
}

/** Runs snippets in order against one server, started from the packed package. */
export async function runSnippets(consumer: Consumer, snippets: readonly Snippet[]): Promise<void> {
  consumer.write(
    'serve.mjs',
    `import { startServer } from '@actlog/server';
const { url, apiKey, agentKey, close } = await startServer({ port: 0 });
console.log(JSON.stringify({ url, apiKey, agentKey }));
process.on('SIGTERM', close);
`,
  );
  const server = spawn('node', ['serve.mjs'], {
    cwd: consumer.folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const started = await new Promise<string>((resolve, reject) => {
      createInterface({ input: server.stdout }).once('line', resolve);
      server.once('exit', (code) => reject(new Error(`the server ended with exit code ${code}`)));
    });
    const { url, apiKey, agentKey } = JSON.parse(started) as Record<'url' | 'apiKey' | 'agentKey', string>;
    for (const { page, name, code } of snippets) {
      consumer.write(name, code);
      const runner = name.endsWith('.sh')
        ? ['bash', name]
        : ['node', '--disable-warning=ExperimentalWarning', name];
      const [command, ...args] = runner as [string, ...string[]];
      const output = consumer.run(command, args, {
        ACTLOG_BASE_URL: url,
        ACTLOG_API_KEY: agentKey,
        ACTLOG_ADMIN_KEY: apiKey,
        ACTLOG_AGENT_ID: 'snippet-agent',
      });
      console.log(`  ✓ ${page}: ${name}${output ? ` (${output.trim().split('\n').length} lines)` : ''}`);
    }
  } finally {
    server.kill('SIGTERM');
  }
}
