import type { AnnouncedCall, RecordedOutcome } from '../../events/announced-call.ts';
import type { AdapterCalls } from '../adapter-calls.ts';
import type { HookedCall } from '../hooked-call.ts';
import { openAnnouncement, withOutcomes } from './announcement.ts';
import type { CallParams } from './call-params.ts';

/** Part of a call that depends on the recorder. */
export type RecorderTerms = Pick<HookedCall, 'announced' | 'onRecorded'>;

/** Common part of a recorder and of the client that announced the call. */
interface Common {
  readonly announced: AnnouncedCall | undefined;
  /** Recorded outcome, sealed for the client. */
  outcome?: string | undefined;
}

/** A call as announced by the client, for each recorder of the server. */
export class ServerCall {
  readonly #params: CallParams;
  readonly #common = new Map<object, Common>();
  readonly #calls: AdapterCalls[] = [];

  constructor(params: CallParams) {
    this.#params = params;
  }

  /** Returns the part of a hooked call that depends on the recorder. */
  termsOf(calls: AdapterCalls): RecorderTerms {
    const common = this.#commonOf(calls);
    const { announced } = common;
    if (!announced) return {};
    const onRecorded = (outcome: RecordedOutcome) => {
      common.outcome = calls.sharedCalls?.sealOutcome(announced, outcome);
    };
    return { announced, onRecorded };
  }

  /** Sealed outcomes of what was recorded so far, for the client. */
  get outcomes(): readonly string[] {
    return [...this.#common.values()].flatMap(({ outcome }) => outcome ?? []);
  }

  /** `true` if the client announced the call to one of the recorders. */
  get isAnnounced(): boolean {
    return [...this.#common.values()].some(({ announced }) => announced !== undefined);
  }

  /** Returns the result with what was recorded, for the client. */
  withOutcomes(result: unknown): unknown {
    return withOutcomes(result, this.outcomes);
  }

  /** Notes that the call goes on with another request, which the client announces in the same way. */
  goesOn(): void {
    for (const calls of this.#calls) {
      const { announced } = this.#commonOf(calls);
      if (announced) calls.sharedCalls?.reopen(announced);
    }
  }

  /** Opens the announcement only once for a recorder, even if it has several guards. */
  #commonOf(calls: AdapterCalls): Common {
    const known = this.#common.get(calls.recorder);
    if (known) return known;
    const common: Common = { announced: openAnnouncement(calls, this.#params) };
    this.#common.set(calls.recorder, common);
    this.#calls.push(calls);
    return common;
  }
}
