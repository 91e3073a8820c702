import { argumentWords } from '@actlog/protocol';
import type { EventContext, RiskEvent } from '../risk-event.ts';
import { nounClassNames } from '../taxonomy/nouns.ts';
import { tagBits } from '../taxonomy/tag.ts';
import { words } from '../taxonomy/tokens.ts';
import { reachesBeyond } from '../taxonomy/tool-profile.ts';
import { type NumberedTool, toolNamed } from './activity.ts';
import type { Mark } from './mark.ts';

/**
 * Meaning of an argument by its name:
 *
 * - `content`: the body of a message, the text of a document, a command, code, a query;
 * - `place`: a path or a file on the agent's machine, or a position within one;
 * - `destination`: who or what an action reaches: a recipient, an account, an address, a channel;
 * - `target`: anything else that determines what an action does, such as an amount, a date or an id.
 */
type ArgumentClass = 'content' | 'place' | 'destination' | 'target';

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
/** Destinations of a message, unlike filters of a search such as a sender. */
const recipientNames = new Set(
  'address bcc cc email emails iban phone receiver receivers recipient recipients to webhook'.split(' '),
);
const bodyNames = new Set('attachment attachments body content html markdown message text'.split(' '));

/** Words of an argument's name that rules read. */
interface ArgumentName {
  readonly class: ArgumentClass;
  /** `true` for a command or code that is run. */
  readonly isShell: boolean;
  /** `true` for the recipient of a message or of money. */
  readonly isRecipient: boolean;
  /** `true` for the content of a message. */
  readonly isBody: boolean;
  /** Part of a URL or of a command that the recorder reports separately: `url.host`, `url.segment` or `url.query`. */
  readonly part: 'host' | 'segment' | 'query' | undefined;
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
function argumentName(path: string): ArgumentName {
  const known = remembered.get(path);
  if (known !== undefined) return known;
  const short = path.slice(-200);
  const part = /\.(host|segment|query)$/.exec(short)?.[1] as ArgumentName['part'];
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

/** Content of an `argument_origins` event about a call, reduced to the marks that count it. */
export interface OriginNote {
  /** Id of the call's event. */
  readonly callId: string;
  readonly tool: NumberedTool;
  readonly marks: readonly Mark[];
}

const privateBits = tagBits('read_private');
const secret = tagBits('credential');
const exec = tagBits('exec');
const external = tagBits('external_comm');
/** Numbers of objects: pages, and what a workspace contains. Tools such as `Read` and `cat` name none. */
const [web, ...code] = (['web', 'file', 'code'] as const).map((noun) => nounClassNames.indexOf(noun) + 1);
const maxPaths = 64;
const maxIdLength = 36;

/** Sources of the arguments of one class. */
interface Sources {
  user: boolean;
  text: boolean;
  field: boolean;
}

const none = (): Sources => ({ user: false, text: false, field: false });

/** Reads an `argument_origins` event; undefined if its payload is invalid. */
export function originNote(event: RiskEvent, context: EventContext): OriginNote | undefined {
  const { eventId, toolName, origins, userText } = event.payload ?? {};
  if (typeof eventId !== 'string' || typeof toolName !== 'string') return undefined;
  if (typeof origins !== 'object' || origins === null) return undefined;
  const tool = toolNamed(toolName, context.tags);
  const marks = marksOf(tool, Object.entries(origins).slice(0, maxPaths), context);
  if (userText === true) marks.push('knows_user');
  return { callId: eventId.slice(0, maxIdLength), tool, marks };
}

function marksOf(
  tool: NumberedTool,
  origins: readonly (readonly [string, unknown])[],
  context: EventContext,
): Mark[] {
  const classes = { content: none(), place: none(), destination: none(), target: none() };
  let hasRecipient = false;
  let hasBody = false;
  let isPrivate = false;
  let isSecret = false;
  let shellCopied = false;
  let shellHost = false;
  let outsideHost = false;
  let outsidePlace = false;
  let hostFromText = false;
  let privateQuery = false;
  for (const [path, origin] of origins) {
    if (typeof origin !== 'object' || origin === null) continue;
    const name = argumentName(path);
    const { from, as, toolName } = origin as { from?: unknown; as?: unknown; toolName?: unknown };
    const source = typeof toolName === 'string' ? toolNamed(toolName, context.tags) : undefined;
    const isOutside = source !== undefined && (source.isOutside || source.noun === web);
    const isText = from === 'tool' && as !== 'field';
    if (from === 'tool' && source !== undefined) {
      if (source.bits & privateBits) isPrivate = true;
      if (source.bits & secret) isSecret = true;
    }
    if (name.part !== undefined) {
      if (name.part !== 'host') {
        // The path of a public address may name what the agent's code does, such as a package or a version.
        const { bits = 0, noun = 0 } = source ?? {};
        const isCode = (bits & exec) !== 0 || noun === 0 || code.includes(noun);
        const carries = (bits & (privateBits | exec)) !== 0 && (!isCode || name.part === 'query');
        privateQuery ||= from === 'tool' && carries;
      } else if (from === 'tool') {
        hostFromText = true;
        // The host of a setting or of a table is data of the workspace, and not what a text says.
        if (name.isShell && (as !== 'field' || isOutside || !source)) shellHost = true;
        if (isOutside) outsideHost = true;
      }
      continue;
    }
    hasRecipient ||= name.isRecipient;
    hasBody ||= name.isBody;
    if (isText && name.isShell && isOutside) shellCopied = true;
    if (isText && name.class === 'place' && isOutside) outsidePlace = true;
    const sources = classes[name.class];
    if (from === 'user' || from === 'system') sources.user = true;
    else if (isText) sources.text = true;
    else if (from === 'tool') sources.field = true;
  }
  const { content, place, destination, target } = classes;
  const marks: Mark[] = [];
  const sends = hasRecipient && hasBody;
  const isReach = reachesBeyond(tool.actKind) || sends;
  const fromUser = content.user || place.user || destination.user || target.user;
  const isExec = (tool.bits & exec) !== 0;
  if (fromUser) marks.push('user_named');
  if (isExec && shellCopied) marks.push('shell_copied');
  if (isExec && shellHost) marks.push('shell_host');
  if (tool.actKind === 'local') {
    if (outsideHost) marks.push('file_copied');
    if (outsidePlace) marks.push('file_named');
  }
  if ((!tool.acts || tool.actKind === 'execution') && hostFromText && privateQuery) marks.push('leaked');
  if (tool.acts && isSecret && (tool.bits & secret) === 0) marks.push('secret_passed');
  if (!isReach) return marks;
  if (!reachesBeyond(tool.actKind)) marks.push('reach', 'outgoing');
  if (fromUser) marks.push('user_reach');
  const isAimed = destination.text || target.text || place.text;
  if (isAimed && !fromUser) marks.push('aimed');
  else if (destination.text && !destination.user) marks.push('redirected');
  else if (isAimed) marks.push('partly');
  else if (destination.field && !fromUser) marks.push('field_only');
  if (
    (tool.actKind === 'outgoing' || sends) &&
    ((isAimed && !fromUser) || (destination.text && !destination.user))
  )
    marks.push('sent_aimed');
  const isSent = (tool.bits & external) !== 0 || sends;
  if (isSent && isPrivate && (content.text || content.field) && isAimed && !destination.user)
    marks.push('private_sent');
  return marks;
}
