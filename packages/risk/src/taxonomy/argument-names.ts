import { argumentWords } from '@actlog/protocol';
import { words } from './tokens.ts';

/**
 * Meaning of an argument by its name:
 *
 * - `content`: the body of a message, the text of a document, a command, code, a query;
 * - `place`: a path or a file on the agent's own machine, or a position within one;
 * - `destination`: who or what an action reaches: a recipient, an account, an address, a channel;
 * - `target`: anything else that determines what an action does, such as an amount, a date or an id.
 */
export type ArgumentClass = 'content' | 'place' | 'destination' | 'target';

const contentNames: ReadonlySet<string> = new Set(argumentWords.content);
const placeNames: ReadonlySet<string> = new Set(argumentWords.place);
const destinationNames = new Set(
  `account accounts address addresses assignee assignees attendee attendees bcc beneficiary cc channel channels chat company
  contact contacts destination domain email emails endpoint group guest guests hotel host hostname href iban invitee
  invitees link links mail member members merchant owner participant participants payee person phone receiver receivers
  recipient recipients restaurant reviewer reviewers room site to uri url urls user username users vendor webhook
  website`.split(/\s+/),
);

const shellNames: ReadonlySet<string> = new Set(argumentWords.shell);
/** Destinations that a message is sent to; filters of a search, such as a sender, are none. */
const recipientNames = new Set(
  'address bcc cc email emails iban phone receiver receivers recipient recipients to webhook'.split(' '),
);
const bodyNames = new Set('attachment attachments body content html markdown message text'.split(' '));

/** Words of an argument's name that rules read. */
export interface ArgumentName {
  readonly class: ArgumentClass;
  /** `true` for a command or code that is run. */
  readonly isShell: boolean;
  /** `true` for the recipient of a message or of money. */
  readonly isRecipient: boolean;
  /** `true` for the content of a message. */
  readonly isBody: boolean;
  /** Part of a URL or of a command that the recorder reports on its own: `url.host` or `url.query`. */
  readonly part: 'host' | 'query' | undefined;
}

const maxRemembered = 4096;
const remembered = new Map<string, ArgumentName>();

function classOf(last: string, before: string): ArgumentClass {
  if (contentNames.has(last)) return 'content';
  if (placeNames.has(last)) return 'place';
  // The id or the name of a user, a channel or a line.
  const named = last === 'id' || last === 'ids' || last === 'name' || last === 'number' ? before : last;
  if ((last === 'name' || last === 'number') && placeNames.has(named)) return 'place';
  return destinationNames.has(named) ? 'destination' : 'target';
}

/** Classifies an argument by its path, such as `recipient` or `message.body`; by its last name, in any style. */
export function argumentName(path: string): ArgumentName {
  const known = remembered.get(path);
  if (known !== undefined) return known;
  const short = path.slice(-200);
  const part = /\.(host|query)$/.exec(short)?.[1] as ArgumentName['part'];
  const parts = words(part === undefined ? short : short.slice(0, -part.length - 1));
  const last = parts.at(-1) ?? '';
  const read: ArgumentName = {
    class: classOf(last, parts.at(-2) ?? ''),
    isShell: shellNames.has(last),
    isRecipient: recipientNames.has(last),
    isBody: bodyNames.has(last),
    part,
  };
  if (remembered.size >= maxRemembered) remembered.clear();
  remembered.set(path, read);
  return read;
}
