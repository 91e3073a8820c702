import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { sequence, toolName } from '../session/session-view.ts';

/** Detects downloaded content that is stored and then run. */
export const executionFetchThenRun: Rule = {
  id: 'execution.fetch-then-run',
  title: 'Downloaded, stored and run',
  dimension: 'ASI05',
  llm: ['LLM03:2025 Supply Chain', 'LLM05:2025 Improper Output Handling'],
  signal:
    'The session downloads from the web, writes a file or installs a package, and runs something: it may run untrusted code.',
  weight: 0.2,
  acts: ['exec'],
  circumstantial: true,
  precedented: true,
  falsePositives: 'Setting up a project as its instructions say.',
  recommendation: {
    title: 'Check what was run',
    text: 'Inspect the stored file or package and its origin. Allow installation from your own mirror only.',
  },
  detect(view) {
    const stored = sequence(view, 'opened_web', 'stored');
    const run = sequence(view, 'stored', 'exec');
    if (stored === undefined || run === undefined) return undefined;
    const [fetched, kept] = stored;
    const [, ran] = run;
    return matched(
      [fetched, kept, ran],
      1,
      `${toolName(view, fetched.tool)} downloaded something, ${toolName(view, kept.tool)} stored a file, and ${toolName(view, ran.tool)} ran code.`,
    );
  },
  fires: [
    { name: 'fetches, writes, runs', steps: ['fetch_url', 'write_file', 'run_shell'] },
    { name: 'fetches, installs, runs', steps: ['download_page', 'install_package', 'execute_code'] },
  ],
  quiet: [
    { name: 'writes its own file, runs it', steps: ['write_file', 'run_shell'] },
    { name: 'fetches, stores, runs nothing', steps: ['fetch_url', 'write_file'] },
  ],
};
