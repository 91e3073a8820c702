import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session/session-view.ts';
import { NOUN_CLASS_NAMES } from '../taxonomy/nouns.ts';
import { tagBits } from '../taxonomy/tag.ts';
import { VERB_CLASSES } from '../taxonomy/verbs.ts';

const EXEC = tagBits('exec');
const WRITE = tagBits('write');
const WEB = NOUN_CLASS_NAMES.indexOf('web') + 1;
const STORED = [NOUN_CLASS_NAMES.indexOf('file') + 1, NOUN_CLASS_NAMES.indexOf('code') + 1];
const READ = VERB_CLASSES.indexOf('read') + 1;

/** Detects downloaded content that is stored and then run. */
export const executionFetchThenRun: Rule = {
  id: 'execution.fetch-then-run',
  title: 'Downloaded, stored and run',
  dimension: 'ASI05',
  llm: ['LLM03:2025 Supply Chain', 'LLM05:2025 Improper Output Handling'],
  signal:
    'The session downloads from the web, writes a file or installs a package, and runs something: it may run untrusted code.',
  weight: 0.4,
  precedented: true,
  falsePositives: 'Setting up a project as its instructions say.',
  recommendation: {
    title: 'Check what was run',
    text: 'Inspect the stored file or package and its origin. Allow installation from your own mirror only.',
  },
  detect(view) {
    const fetched = view.steps.find((step) => step.verb === READ && step.noun === WEB);
    if (fetched === undefined) return undefined;
    const stored = view.acts.find(
      (step) => step.at > fetched.at && (step.bits & (WRITE | EXEC)) !== 0 && STORED.includes(step.noun),
    );
    if (stored === undefined) return undefined;
    const run = view.acts.filter((step) => step.at > stored.at && (step.bits & EXEC) !== 0);
    const first = run[0];
    if (first === undefined) return undefined;
    return matched(
      [fetched, stored, ...run],
      1,
      `${toolName(view, fetched.tool)} downloaded something, ${toolName(view, stored.tool)} stored it, and ${toolName(view, first.tool)} ran code.`,
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
