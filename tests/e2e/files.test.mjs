/** Models read from files of this computer: chosen, dropped alone, together and as a folder. */
import assert from "node:assert/strict";
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import {
  answered,
  browser_tests,
  kSingleFile,
  make_trappable,
  open,
  table_bytes,
  text_within,
} from "./harness.mjs";
import { gguf_file, gguf_parts, small_checkpoint } from "./model_files.mjs";

const open_in = browser_tests();
const single = pathToFileURL(kSingleFile).href;

let folder;
before(() => (folder = mkdtempSync(join(tmpdir(), "vramgauge-files-"))));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Real files with holes: their size is true, their zeros take no room. */
function on_disk(files, below = "") {
  mkdirSync(join(folder, below), { recursive: true });
  return Object.entries(files).map(([name, { head, size }]) => {
    const path = join(folder, below, name);
    const handle = openSync(path, "w");
    writeSync(handle, head);
    ftruncateSync(handle, size);
    closeSync(handle);
    return path;
  });
}

const panel = (page) => page.locator("vg-import-panel");
const status = (page) => panel(page).locator("#status-files");
const weights_bytes = (page) =>
  page.locator("vg-app").evaluate((app) => app.store.estimate.weights.total_bytes);

async function choose(page, paths) {
  await page.getByRole("button", { name: /^Your own model/ }).click();
  await panel(page).locator("input[type=file]").setInputFiles(paths);
}

/** As the system drags files over the page and drops them. */
async function drop(page, paths) {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver"])
    await session.send("Input.dispatchDragEvent", { type, x: 600, y: 400, data });
  await page.locator(".drop-veil").waitFor();
  await session.send("Input.dispatchDragEvent", { type: "drop", x: 600, y: 400, data });
  await page.locator(".drop-veil").waitFor({ state: "hidden" });
}

async function taken(page) {
  await status(page).locator(".taken").waitFor();
  await answered(page);
  return text_within(status(page));
}

test("a GGUF of 5 GB is read by its header, chosen or dropped, on the site and in the one file", async () => {
  const qwen = gguf_file("qwen3-8b.Q4_K_M");
  const paths = on_disk({ "Qwen3-8B-Q4_K_M.gguf": qwen.file });
  for (const give of [choose, drop]) {
    for (const address of [undefined, single]) {
      await open(open_in, { address }, async (page) => {
        await give(page, paths);
        // 36 layers x 2 x 8 KV heads x 128 x 2 bytes.
        assert.match(await taken(page), /8\.19\sB[\s\S]*4\.68\sGiB[\s\S]*1\sfile[\s\S]*1\sMiB/);
        assert.equal(await weights_bytes(page), qwen.tensor_bytes);
        assert.match(
          await page.locator("vg-model-note summary").innerText(),
          /^read from the GGUF header/,
        );
        assert.equal((await table_bytes(page)).kv_cache, 65_536 * 2 * 36 * 2 * 8 * 128 * 2);
      });
    }
  }
});

test("all parts of a split GGUF make one model; a missing one is named", async () => {
  const { files, tensor_bytes } = gguf_parts("qwen2.5-0.5b.Q8_0");
  const paths = on_disk(files, "split");
  await open(open_in, {}, async (page) => {
    await drop(page, paths);
    await taken(page);
    assert.equal(await weights_bytes(page), tensor_bytes);
  });
  await open(open_in, {}, async (page) => {
    await drop(page, paths.slice(1));
    await status(page).locator(".error").waitFor();
    assert.match(await text_within(status(page)), /00001-of-00002|1 of 2|split/);
  });
});

test("shards with their config.json are read, also as a folder with other things in it", async () => {
  const { files, tensor_bytes } = small_checkpoint();
  const paths = on_disk(files, "small-llama");
  for (const dropped of [paths, [join(folder, "small-llama")]]) {
    await open(open_in, {}, async (page) => {
      await drop(page, dropped);
      assert.match(await taken(page), /5\sfiles/);
      assert.equal(await weights_bytes(page), tensor_bytes);
    });
  }
});

test("what was read travels in the link", async () => {
  const { files, tensor_bytes } = small_checkpoint();
  const paths = on_disk(files, "linked");
  await open(open_in, {}, async (page) => {
    await choose(
      page,
      paths.filter((path) => !path.endsWith("README.md")),
    );
    await taken(page);
    await page.waitForFunction(() => location.hash.includes("model_config"));
    await page.reload();
    await answered(page);
    assert.equal(await weights_bytes(page), tensor_bytes);
  });
});

test("a file that is not what its name says is refused in place, and the model stays", async () => {
  const paths = on_disk({ "broken.gguf": { head: Buffer.from("not a model"), size: 1000 } });
  await open(open_in, {}, async (page) => {
    const before = await weights_bytes(page);
    await choose(page, paths);
    await status(page).locator(".findings .error").waitFor();
    assert.match(await text_within(status(page)), /GGUF/);
    assert.equal(await weights_bytes(page), before);
  });
});

test("a header of 10 MB is read in steps, and its progress is told", async () => {
  const long = gguf_file("qwen3-8b.Q4_K_M", 10 * 2 ** 20);
  const paths = on_disk({ "long.gguf": long.file });
  await open(open_in, {}, async (page) => {
    await choose(page, paths);
    assert.match(await taken(page), /1[01](\.\d+)?\sMiB/);
    assert.equal(await weights_bytes(page), long.tensor_bytes);
  });
});

test("after a trap in the reader it says so, and the next file is read by another", async () => {
  const paths = on_disk({ "Qwen3-8B-Q4_K_M.gguf": gguf_file("qwen3-8b.Q4_K_M").file });
  await open(open_in, { prepare: make_trappable }, async (page) => {
    // The next call is to be the reader's, not that of a part that is still being worked out.
    await page.locator("vg-inverse li").first().waitFor();
    await page.waitForTimeout(300);
    await page.evaluate(() => {
      const { slice } = File.prototype;
      window.trap_at_slice = true;
      File.prototype.slice = function (...args) {
        window.trap_next = window.trap_at_slice;
        window.trap_at_slice = false;
        return slice.apply(this, args);
      };
    });
    await choose(page, paths);
    await status(page).locator(".failure[data-code=internal]").waitFor();
    await panel(page).locator("input[type=file]").setInputFiles(paths);
    await taken(page);
  });
});

test("the one-file page says why it asks no hub", async () => {
  await open(open_in, { address: single }, async (page) => {
    await page.getByRole("button", { name: /^Your own model/ }).click();
    assert.match(await text_within(panel(page)), /may not reach the network[\s\S]*drop them here/);
    assert.equal(await panel(page).locator("#name").count(), 0);
  });
});
