import { useState } from 'preact/hooks';

/** Something that the person does, one at a time. */
export interface Action<Input> {
  /** For `aria-disabled` of its button: `disabled` takes the focus from who works by keyboard. */
  readonly isBusy: boolean;
  readonly error: unknown;
  run(input: Input): void;
}

/** Does what `act` says, and tells how it went. While it is under way, further wishes are passed over. */
export function useAction<Input = void>(act: (input: Input) => PromiseLike<unknown>): Action<Input> {
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  return {
    ...state,
    error: state.error,
    run: (input) => {
      if (state.isBusy) return;
      setState({ isBusy: true });
      act(input).then(
        () => setState({ isBusy: false }),
        (error) => setState({ isBusy: false, error }),
      );
    },
  };
}
