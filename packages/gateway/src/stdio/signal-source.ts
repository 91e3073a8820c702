/** Source of the signals that end the gateway. */
export interface SignalSource {
  /** Calls the listener for each signal until the returned function is called. */
  listen(listener: (signal: NodeJS.Signals) => void): () => void;
}
