import type { Consumer } from './consumer.ts';
import type { Snippet } from './snippets.ts';

/**
 * Checks the types of the snippets in CommonJS modules. A framework may have separate types for those, which the adapter's
 * types must then refer to.
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

/** Wraps a snippet in a function, because a CommonJS module has no top-level `await`. */
function inFunction(code: string): string {
  const imports = /^import .*?;$/gms;
  const head = code.match(imports)?.join('\n') ?? '';
  return `${head}\nexport async function main() {\n${code.replace(imports, '')}\n}\n`;
}
