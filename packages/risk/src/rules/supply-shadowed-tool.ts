import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** Detects the name of a known tool in another namespace. */
export const supplyShadowedTool: Rule = {
  id: 'supply.shadowed-tool',
  title: 'Name of a known tool in another namespace',
  dimension: 'ASI04',
  llm: ['LLM03:2025 Supply Chain'],
  signal:
    'A new tool has the same name as a known one, of two words or more, but comes from another server: it may impersonate it.',
  weight: 0.2,
  acts: ['tool_shadowed'],
  cluster: 'new-tool',
  falsePositives: 'Servers of the same kind, such as two code hosts.',
  recommendation: {
    title: 'Choose the trusted server',
    text: 'Allow the tool from one server with a policy and deny it from others.',
  },
  detect: (view) =>
    stamped(
      view,
      'tool_shadowed',
      1,
      'A new tool has the name of a known one but comes from another server.',
    ),
  fires: [{ name: 'stamped', steps: [{ tool: 'evil__create_issue', stamps: ['tool_shadowed'] }] }],
  quiet: [
    { name: 'the known tool', steps: ['github__create_issue'] },
    { name: 'the same action on another object', steps: ['calendar.list', 'drive.list'] },
  ],
};
