import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { root } from '../workspace.ts';
import type { PageStep, PageWay } from './page-steps.ts';
import { patternOf, typedLines } from './printed-pattern.ts';
import { Terminal } from './terminal.ts';

/** Environment variables that a machine sets for all users. */
const machineVariables = /^(LANG|LC_\w+|TERM|TMPDIR|SSL_CERT_\w+|NODE_EXTRA_CA_CERTS|(https?|no)_proxy)$/i;

/** A completed step with its duration. */
export interface TimedStep {
  readonly what: string;
  readonly seconds: number;
}

function titleOf(step: PageStep): string {
  return step.kind === 'type' ? step.lines.join('; ') : `save ${step.name}`;
}

type TypeStep = Extract<PageStep, { kind: 'type' }>;

/** A new user with an empty home folder, who follows a page of the docs. */
export class Newcomer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'actlog-newcomer-'));
  readonly #environment: NodeJS.ProcessEnv;
  readonly #terminals: Terminal[] = [];

  /** @param registry - registry with the packages of this repository, which redirects for all others */
  constructor(registry: string) {
    const home = join(this.#folder, 'home');
    mkdirSync(home);
    writeFileSync(join(home, '.npmrc'), `registry=${registry}/\n`);
    const shared = Object.entries(process.env).filter(([name]) => machineVariables.test(name));
    // A new user has Node, but none of this repository's tools.
    const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.startsWith(root));
    this.#environment = {
      ...Object.fromEntries(shared),
      HOME: home,
      PATH: [dirname(process.execPath), ...path].join(delimiter),
    };
    this.#terminals.push(new Terminal(this.#environment, this.#folder));
  }

  /**
   * Follows a page to the end.
   *
   * @param signal - ends the run if it takes too long
   * @throws Error that names the step that does not do what the page says, with its output
   */
  async follow({ steps }: PageWay, signal: AbortSignal): Promise<TimedStep[]> {
    const timed: TimedStep[] = [];
    for (const step of steps) {
      const startedAt = performance.now();
      try {
        if (step.kind === 'save') writeFileSync(join(this.#terminal.folder, step.name), step.content);
        else await this.#type(step, signal);
      } catch (error) {
        const printed = this.#printed.replaceAll(/(?<=al_(?:test|live)_)\w+/g, '…');
        throw new Error(`${titleOf(step)}\n${(error as Error).message}; its output:\n${printed}`);
      }
      timed.push({ what: titleOf(step), seconds: (performance.now() - startedAt) / 1000 });
    }
    await this.#terminal.until(undefined, 0, signal);
    return timed;
  }

  async #type({ lines, isNewTerminal, promised }: TypeStep, signal: AbortSignal): Promise<void> {
    if (isNewTerminal) this.#terminals.push(new Terminal(this.#environment, this.#folder));
    const terminal = this.#terminal;
    await terminal.until(undefined, 0, signal); // its prompt
    const from = terminal.output.length;
    terminal.type(typedLines(lines, this.#printed));
    const isSeen = await terminal.until(
      promised === undefined ? undefined : patternOf(promised),
      from,
      signal,
    );
    if (promised !== undefined && !isSeen)
      throw new Error(`the output does not contain what the page shows:\n${promised}`);
  }

  /** Terminal in use. */
  get #terminal(): Terminal {
    return this.#terminals.at(-1) as Terminal;
  }

  get #printed(): string {
    return this.#terminals.map(({ output }) => output).join('\n');
  }

  /** Closes the terminals and removes everything. */
  async leave(): Promise<void> {
    for (const terminal of this.#terminals) await terminal.interrupt();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
