/** One action of a page's reader. */
export type PageStep =
  | {
      readonly kind: 'type';
      /** Lines for a terminal, as printed. */
      readonly lines: readonly string[];
      /** `true` if the page asks for another terminal. */
      readonly isNewTerminal: boolean;
      /** Output that the page promises. */
      promised?: string;
    }
  | { readonly kind: 'save'; readonly name: string; readonly content: string };

/** A complete way to the first event: a second-level heading of a page with its steps. */
export interface PageWay {
  readonly title: string;
  readonly steps: readonly PageStep[];
}

const shells = new Set(['sh', 'bash']);
const sources = new Set(['js', 'ts', 'json']);

function stepOf(language: string, code: string, prose: string): PageStep {
  if (shells.has(language)) {
    return {
      kind: 'type',
      lines: code.split('\n'),
      isNewTerminal: /\bopen a second terminal\b/i.test(prose),
    };
  }
  if (!sources.has(language))
    throw new Error(`the page does not say what to do with a block of "${language}"`);
  const name = [...prose.matchAll(/\bsave this\b[^.]*?`([^`]+\.\w+)`/gi)].at(-1)?.[1];
  if (name === undefined) throw new Error(`the page does not say in which file to save:\n${code}`);
  return { kind: 'save', name, content: `${code}\n` };
}

function stepsOf(part: string): PageStep[] {
  const steps: PageStep[] = [];
  let readUntil = 0;
  for (const { 0: block, 1: language = '', 2: code = '', index } of part.matchAll(
    /^```(\w+)\n(.*?)\n```$/gms,
  )) {
    const last = steps.at(-1);
    if (language !== 'text') steps.push(stepOf(language, code, part.slice(readUntil, index)));
    else if (last?.kind === 'type') last.promised = code;
    else throw new Error(`the page does not say what prints this:\n${code}`);
    readUntil = index + block.length;
  }
  return steps;
}

/**
 * Returns the steps of a page from its visible text: shell blocks are typed, programs are saved under the name given in
 * the text above them, and a text block is the expected output of the lines before it.
 *
 * @throws Error when the page does not say what to do with a block
 */
export function waysOf(page: string): PageWay[] {
  return page
    .split(/^## /m)
    .slice(1)
    .map((part) => ({ title: part.slice(0, part.indexOf('\n')), steps: stepsOf(part) }))
    .filter(({ steps }) => steps.length > 0);
}
