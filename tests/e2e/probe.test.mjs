/** A machine that was measured by `vramgauge probe --json`: pasted, or dropped anywhere on the page. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assert_clean } from "./axe.mjs";
import { browser_tests, field, input, open, screenshot } from "./harness.mjs";

const open_in = browser_tests();

const kMib = 2 ** 20;
const kTotalBytes = 85_520_809_984;
/** An H100 80GB HBM3 as its driver and CUDA say (presets/gpus.json), with 3 GiB held by somebody. */
const kUsableBytes = 85_019_590_656;
const device = (index, free_bytes) => ({
  index,
  name: "NVIDIA H100 80GB HBM3",
  uuid: `GPU-${index}`,
  gpu: "measured-0",
  compute_capability: "9.0",
  total_bytes: kTotalBytes,
  usable_bytes: kUsableBytes,
  free_bytes,
  context_bytes: 520 * kMib,
});
const kProbe = {
  kind: "probe",
  version: 1,
  driver_version: "580.65.06",
  cuda_version: "13.0",
  devices: [device(0, kUsableBytes - 3072 * kMib), device(1, kUsableBytes)],
  links: [],
  gpus: [
    {
      id: "measured-0",
      name: "NVIDIA H100 80GB HBM3",
      vendor: "NVIDIA",
      aliases: [],
      marketing_gb: 80,
      total_bytes: kTotalBytes,
      // One byte off the catalogue's own, to see which one is used.
      usable_bytes: kUsableBytes - 1,
      usable_basis: "measured",
      usable_source: "vramgauge probe, driver 580.65.06, CUDA 13.0",
      basis: "measured",
      source: "vramgauge probe, driver 580.65.06, CUDA 13.0",
      compute_capability: "9.0",
    },
  ],
};

const panel = (page) => page.locator("vg-probe-panel");
const usable = (page) => page.locator("vg-device-bar figcaption span").last().getAttribute("title");

async function assert_taken(page) {
  await page.waitForURL(/gpu=measured-0.*gpu_count=2/);
  assert.equal(await input(page, "gpu").inputValue(), "NVIDIA H100 80GB HBM3 · measured");
  assert.match(await usable(page), /85,019,590,655/);
  const rows = await panel(page).locator("tr[data-device]").allInnerTexts();
  assert.equal(rows.length, 2);
  // 85,019,590,656 B are 79.18 GiB.
  assert.match(rows[0], /79\.18\sGiB\s+76\.18\sGiB/);
}

test("a pasted probe becomes the GPU of the page", async () => {
  await open(open_in, {}, async (page) => {
    await panel(page).getByRole("button", { name: "Your own GPU" }).click();
    const text = panel(page).getByLabel("What the probe wrote");
    for (const wrong of ["{", '{"kind":"probe","version":1}', JSON.stringify({ ...kProbe, version: 2 })]) {
      await text.fill(wrong);
      assert.match(await panel(page).locator(".error").innerText(), /not what vramgauge probe/);
    }
    await text.fill(JSON.stringify(kProbe, null, 1));
    await assert_taken(page);
    assert.equal(await field(page, "gpu_count").locator("#control").inputValue(), "2");
    await assert_clean(page, "probe");
    await panel(page).scrollIntoViewIfNeeded();
    await screenshot(page, "probe");
    // 3,072 MiB of the first card are held by somebody.
    await panel(page).getByRole("button", { name: "Leave 3.00 GiB" }).click();
    await page.waitForURL(/held_gib=3(&|$)/);
    assert.equal(await panel(page).getByRole("button", { name: "Leave" }).count(), 0);
  });
});

test("a probe's file dropped on the page is taken for what it is", async () => {
  await open(open_in, { locale: "en-US" }, async (page) => {
    await page.evaluate((text) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], "machine.json", { type: "application/json" }));
      for (const type of ["dragover", "drop"])
        window.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }, JSON.stringify(kProbe));
    await assert_taken(page);
  });
});
