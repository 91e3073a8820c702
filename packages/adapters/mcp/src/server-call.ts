import type { AdapterCalls, AnnouncedCall, RecordedOutcome } from '@actlog/recorder/adapter';
import { openAnnouncement, withOutcomes } from './announcement.ts';
import type { CallParams } from './call-params.ts';
import type { RecorderTerms } from './hooks.ts';

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

  /** Returns the result with what was recorded, for the client. */
  withOutcomes(result: unknown): unknown {
    const sealed = [...this.#common.values()].flatMap(({ outcome }) => outcome ?? []);
    return withOutcomes(result, sealed);
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
