/** Maximum number of runs to remember, because LangChain does not report the end of every run. */
const maxRuns = 10_000;

/** Runs of tools and everything inside them, whose messages are not the user's but a model's or a tool's. */
export class InnerRuns {
  readonly #runs = new Set<string>();

  /** Notes that a run starts. */
  begin(runId: string, parentRunId: string | undefined): void {
    if (this.has(parentRunId)) this.beginTool(runId);
  }

  /** Notes that the run of a tool starts. */
  beginTool(runId: string): void {
    this.#runs.add(runId);
    if (this.#runs.size > maxRuns) this.#runs.delete(this.#runs.values().next().value as string);
  }

  /** Notes that a run has ended. */
  end(runId: string): void {
    this.#runs.delete(runId);
  }

  /** Returns `true` for the run of a tool, and for one inside it. */
  has(runId: string | undefined): boolean {
    return runId !== undefined && this.#runs.has(runId);
  }
}
