/** Fails when a text is missing, unused or differs between the languages or from the core's codes. */
import { error_code_problems, translation_problems, usage_problems } from "./strings.mjs";

const problems = [...translation_problems(), ...usage_problems(), ...error_code_problems()];
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
