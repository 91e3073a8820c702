import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { type Step, toolName } from '../session/session-view.ts';
import { NOUN_CLASS_NAMES } from '../taxonomy/nouns.ts';

const WORDS: Readonly<Partial<Record<(typeof NOUN_CLASS_NAMES)[number], string>>> = {
  opinion: 'comments and reviews',
  rights: 'rights and settings',
  fact: 'such a thing',
  person: 'people',
};

function kind(step: Step): string {
  const noun = NOUN_CLASS_NAMES[step.noun - 1];
  return noun === undefined ? 'such a thing' : (WORDS[noun] ?? noun);
}

/** Detects an action on a kind of object that the session did not read. */
export const goalUnreadObject: Rule = {
  id: 'goal.unread-object',
  title: 'Action on a kind of object that was not read',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'After untrusted content the agent acts on another kind of object than it read: it reads a calendar and deletes a file. The reason for such an action is not in the objects that it read.',
  weight: 0.41,
  precedented: true,
  falsePositives: 'Tasks that transfer content: read a web page, send it by email.',
  recommendation: {
    title: 'Check that the user asked for both kinds of object',
    text: 'If the task did not name the object of the action, treat the session as compromised: undo the action and remove the text that led to it.',
  },
  detect(view) {
    const kinds = new Set<number>();
    let latest = 0;
    const foreign: Step[] = [];
    const crossed: Step[] = [];
    for (const step of view.steps) {
      if (!step.acts) {
        kinds.add(step.noun);
        latest = step.noun;
      } else if (step.afterUntrusted) {
        if (!kinds.has(step.noun)) foreign.push(step);
        else if (step.noun !== latest) crossed.push(step);
      }
    }
    const found = foreign.length > 0 ? foreign : crossed;
    const first = found[0];
    if (first === undefined) return undefined;
    const what =
      foreign.length > 0
        ? 'which the session had not read before'
        : 'although the session last read something else';
    return matched(
      found,
      foreign.length > 0 ? 1 : 0.5,
      `${toolName(view, first.tool)} acts on ${kind(first)}, ${what}.`,
    );
  },
  fires: [
    { name: 'reads the calendar, deletes a file', steps: ['get_calendar_events', 'delete_file'] },
    { name: 'reads mail, then files, then sends mail', steps: ['search_emails', 'list_files', 'send_email'] },
  ],
  quiet: [
    { name: 'reads mail, answers mail', steps: ['search_emails', 'send_email'] },
    { name: 'no text of others came in', steps: ['get_current_time', 'send_email'] },
  ],
};
