"""What the browser does by itself: follow the state in the address, copy it, and save files."""

from __future__ import annotations

# The address follows the state, and whoever listens (a benchmark, a test) is sent what was rendered.
ON_DRAWN = """
const [query, stage, ticket] = [wire.data.query[0], wire.data.stage[0], wire.data.ticket[0]]
const address = location.pathname + (query ? "?" + query : "")
if (address != location.pathname + location.search) history.replaceState(null, "", address)
document.dispatchEvent(new CustomEvent("lab", {detail: {query, stage, ticket}}))
"""
ON_FILE = """
const link = document.createElement("a")
link.href = URL.createObjectURL(new Blob([file.data.text[0]], {type: "text/plain"}))
link.download = file.data.name[0]
link.click()
"""
COPY = """
navigator.clipboard.writeText(location.href).then(() => {
  cb_obj.origin.label = "Copied"
  setTimeout(() => { cb_obj.origin.label = "Copy link" }, 1500)
}).catch(() => prompt("The link:", location.href))
"""
PNG = """
Bokeh.index.find_one(holder).export("png").to_blob().then((blob) => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = "logbarrier.png"
  link.click()
})
"""
