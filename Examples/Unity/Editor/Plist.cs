using System.Linq;
using System.Xml;
using System.Xml.Linq;

namespace Packs.Editor
{
    /// <summary>A property list as XML. Unity's PlistDocument reads numbers of 32 bits, but a release may need more than 2 GiB.</summary>
    internal sealed class Plist
    {
        private readonly string path;
        internal readonly XElement Root;

        internal Plist(string path)
        {
            this.path = path;
            // Without the document type, which names a file on the web.
            using (var reader = XmlReader.Create(path, new XmlReaderSettings { DtdProcessing = DtdProcessing.Ignore, XmlResolver = null }))
            {
                Root = XDocument.Load(reader).Root.Element("dict");
            }
        }

        /// <summary>Returns the value of a key, or null.</summary>
        internal XElement Value(string key)
        {
            return Root.Elements("key").FirstOrDefault(element => element.Value == key)?.ElementsAfterSelf().FirstOrDefault();
        }

        internal void Set(string key, XElement value)
        {
            var existing = Value(key);
            if (existing != null) existing.ReplaceWith(new XElement(value));
            else Root.Add(new XElement("key", key), new XElement(value));
        }

        internal void Write()
        {
            var type = new XDocumentType("plist", "-//Apple//DTD PLIST 1.0//EN", "http://www.apple.com/DTDs/PropertyList-1.0.dtd", null);
            new XDocument(new XDeclaration("1.0", "UTF-8", null), type, new XElement("plist", new XAttribute("version", "1.0"), Root)).Save(path);
        }
    }
}
