import { useState } from 'preact/hooks';

/** A user action that runs once at a time. */
export interface Action<Input> {
  /** Value for `aria-disabled` of the button: `disabled` would take the focus from keyboard users. */
  readonly isBusy: boolean;
  readonly error: unknown;
  run(input: Input): void;
}

/** Runs `act` and reports its outcome. Further calls are ignored while it runs. */
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
