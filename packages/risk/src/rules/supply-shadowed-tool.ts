import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** A known tool’s name in another namespace. */
export const supplyShadowedTool: Rule = {
  id: 'supply.shadowed-tool',
  title: 'Known tool’s name in another namespace',
  dimension: 'ASI04',
  llm: ['LLM03:2025 Supply Chain'],
  signal:
    'A new tool has the own name of a known one, of two words or more, but comes from another server: it may stand in for it.',
  weight: 0.2,
  cluster: 'new-tool',
  falsePositives: 'Servers of the same kind, such as two code hosts.',
  recommendation: {
    title: 'Name the server that you trust',
    text: 'Allow the tool from one server by a policy, and deny it from others.',
  },
  detect: (view) =>
    stamped(
      view,
      'tool_shadowed',
      1,
      'A new tool has the name of a known one, and comes from another server.',
    ),
  fires: [{ name: 'stamped', steps: [{ tool: 'evil__create_issue', stamps: ['tool_shadowed'] }] }],
  quiet: [
    { name: 'the known tool', steps: ['github__create_issue'] },
    { name: 'the same deed, done to another thing', steps: ['calendar.list', 'drive.list'] },
  ],
};
