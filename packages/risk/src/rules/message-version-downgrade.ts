import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { lastOf, tallyOf } from '../session/session-view.ts';

function older(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split('.').map((part) => Number.parseInt(part, 10) || 0));
  for (let at = 0; at < Math.max(a?.length ?? 0, b?.length ?? 0); at++) {
    const difference = (a?.[at] ?? 0) - (b?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** Detects events that fall back to an older schema version. */
export const messageVersionDowngrade: Rule = {
  id: 'message.version-downgrade',
  title: 'Fallback to an older schema version',
  dimension: 'ASI07',
  llm: ['LLM03:2025 Supply Chain'],
  signal:
    'After events of one schemaVersion the session sends events of an older one: another program may be impersonating it, or hiding what the newer version would show.',
  weight: 0.3,
  falsePositives: 'Two programs with different versions that share a session.',
  recommendation: {
    title: 'Find the second program',
    text: 'Find out which program sends the older version, and rotate the key if it is not expected.',
  },
  detect(view) {
    if (view.state.versions.size < 2) return undefined;
    const versions = view.state.versions.entries().map(([, version]) => version);
    for (const newer of versions) {
      for (const version of versions) {
        if (!older(version.version, newer.version) || version.lastMs <= newer.firstMs) continue;
        const calls = tallyOf(view, tallyOf(view, 'call').count > 0 ? 'call' : 'message');
        return matched(
          [lastOf(calls)],
          1,
          `Events of schema version ${version.version} came after events of version ${newer.version}.`,
        );
      }
    }
    return undefined;
  },
  fires: [
    {
      name: '1.1, then 1.0',
      steps: [
        { tool: 'read_file', version: '1.1' },
        { tool: 'read_file', version: '1.0' },
      ],
    },
  ],
  quiet: [
    {
      name: '1.0, then 1.1',
      steps: [
        { tool: 'read_file', version: '1.0' },
        { tool: 'read_file', version: '1.1' },
      ],
    },
    {
      name: 'the service decides in its own version',
      steps: [
        { tool: 'pay', given: 'a', version: '1.1' },
        {
          tool: 'pay',
          given: 'b',
          category: 'guardian_decision',
          payload: { decision: 'require_approval' },
        },
        { tool: 'pay', given: 'b', version: '1.1' },
      ],
    },
    {
      name: '1.9, then 1.10',
      steps: [
        { tool: 'read_file', version: '1.9' },
        { tool: 'read_file', version: '1.10' },
      ],
    },
  ],
};
