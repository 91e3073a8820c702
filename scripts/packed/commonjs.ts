import type { Consumer } from './consumer.ts';
import type { Snippet } from './snippets.ts';

/**
 * The snippets of pages have types in a CommonJS module too: a framework may declare its own a second time for that,
 * which fit ours only where ours refer to those.
 */
export function compileAsCommonJs(consumer: Consumer, snippets: readonly Snippet[], compiler: string): void {
  const files = snippets
    .filter(({ name }) => name.endsWith('.ts'))
    .map(({ name, code }) => {
      const file = `commonjs/${name.replace(/\.ts$/, '.cts')}`;
      consumer.write(file, inFunction(code));
      return file;
    });
  const options = ['--module', 'nodenext', '--target', 'es2024', '--strict', '--types', 'node'];
  consumer.run('node', [compiler, '--noEmit', '--skipLibCheck', ...options, ...files]);
}

/** A CommonJS module has no `await` outside of functions. */
function inFunction(code: string): string {
  const imports = /^import .*?;$/gms;
  const head = code.match(imports)?.join('\n') ?? '';
  return `${head}\nexport async function main() {\n${code.replace(imports, '')}\n}\n`;
}
