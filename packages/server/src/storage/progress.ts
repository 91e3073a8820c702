/** Tells people what a start is at that may take long: each message is one line. */
export type Progress = (message: string) => void;
